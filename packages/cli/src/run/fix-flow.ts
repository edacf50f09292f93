/** The safe fixes of a flow, made: what they change is certain, and they never leave more errors than there were. */

import { resolve } from "node:path";
import type { Diagnostic } from "@millrace/contracts";
import { fixText, type MadeFix } from "@millrace/dsl/editor";
import { createTwoFilesPatch } from "diff";
import { type CommandIo, type Input, isOn } from "../argv/spec.ts";
import { configFlags } from "../config/files.ts";
import { usage } from "../errors.ts";
import { replaceFile } from "../files.ts";
import { clean } from "../output/text.ts";
import { type FlowSource, loadFlow } from "./load-flow.ts";

/** A flow as it is found, with what is found in it. */
interface JudgedFlow {
  readonly read: FlowSource;
  readonly diagnostics: readonly Diagnostic[];
}

/** Makes the safe fixes of one flow, writes it or the difference, and says what it did. */
export async function fixFile(
  file: string,
  before: JudgedFlow,
  judge: (flow: FlowSource) => Promise<readonly Diagnostic[]>,
  input: Input,
  io: CommandIo,
): Promise<JudgedFlow & { readonly made: readonly MadeFix[] }> {
  const { name, text, sources } = before.read;
  if (text === undefined || /\.(?:json|ya?ml)$/i.test(file)) {
    throw usage(
      `--fix mends .flow text in place, and ${name} is another document`,
      `millrace validate --fix - < ${name} > FILE.flow`,
    );
  }
  const { fixed, made } = await fixText({ ...before, text }, async (changed) => {
    const bytes = Buffer.from(changed);
    const read = await loadFlow(file, io, { ...configFlags(input), bytes, sources });
    return { read, text: changed, diagnostics: await judge(read) };
  });
  const after = { ...fixed, made };
  const result = fixed.text;
  if (isOn(input, "dry-run")) {
    if (io.json === undefined) await io.out.write(fixPatch(name, text, result));
    return after;
  }
  if (file === "-") {
    if (io.json === undefined) await io.out.write(result);
  } else if (after.made.length > 0) await replaceFile(resolve(io.cwd, file), result);
  if (io.json !== undefined || io.verbosity === "quiet") return after;
  for (const { line, code, title } of after.made) {
    await io.err.write(`${clean(name)}:${line} ${code} fixed: ${clean(title)}\n`);
  }
  return after;
}

/** The changes of the fixes, as a unified diff; "" where there are none. */
function fixPatch(name: string, before: string, after: string): string {
  if (before === after) return "";
  return createTwoFilesPatch(name, name, before, after, "as it is", "fixed");
}
