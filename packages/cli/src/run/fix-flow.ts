/** The safe fixes of a flow, made: what they change is certain, and they never leave more errors than there were. */

import { isUtf8 } from "node:buffer";
import { resolve } from "node:path";
import type { Diagnostic } from "@millrace/contracts";
import { applyEdits, certainFixes } from "@millrace/dsl/editor";
import { createTwoFilesPatch } from "diff";
import { type CommandIo, type Input, isOn } from "../argv/spec.ts";
import { configFlags } from "../config/files.ts";
import { usage } from "../errors.ts";
import { replaceFile } from "../files.ts";
import { errorsOf } from "../output/findings.ts";
import { clean } from "../output/text.ts";
import { type FlowSource, loadFlow } from "./load-flow.ts";

/** Most rounds over one text: a fix may let more be read, which may have fixes again. What is found later stays to be reported. */
const MAX_ROUNDS = 10;

/** One fix that was made. `line`: where it was found, in the text that it was made in. */
interface MadeFix {
  readonly line: number;
  readonly code: string;
  readonly title: string;
}

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
  if (text === undefined) throw usage(`--fix mends .flow text, and ${name} is a graph in JSON`);
  const after = await fixFlow(before, async (changed) => {
    const bytes = Buffer.from(changed);
    const read = await loadFlow(file, io, { ...configFlags(input), bytes, sources });
    return { read, diagnostics: await judge(read) };
  });
  const result = after.read.text ?? text;
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

/**
 * The flow after every first fix of a certain finding that does not touch another, again until nothing changes. `judge` reads a
 * text as the flow was read. A round that would make more errors is not made.
 */
async function fixFlow(
  flow: JudgedFlow,
  judge: (text: string) => Promise<JudgedFlow>,
): Promise<JudgedFlow & { readonly made: readonly MadeFix[] }> {
  const made: MadeFix[] = [];
  let now = flow;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { text } = now.read;
    // Bytes that are no text cannot be written again as they were.
    if (text === undefined || now.diagnostics.some(({ code }) => code === "FLOW0001")) break;
    const chosen = certainFixes(now.diagnostics);
    const changed = applyEdits(
      text,
      chosen.flatMap(({ edits }) => edits),
    );
    if (changed === text || !isUtf8(Buffer.from(changed))) break;
    const next = await judge(changed);
    if (errorsOf(next.diagnostics).length > errorsOf(now.diagnostics).length) break;
    for (const { title, diagnostic } of chosen) {
      made.push({ line: diagnostic.range?.start.line ?? 1, code: diagnostic.code, title });
    }
    now = next;
  }
  return { ...now, made };
}

/** What the fixes change, as a unified diff; "" where they change nothing. */
function fixPatch(name: string, before: string, after: string): string {
  if (before === after) return "";
  return createTwoFilesPatch(name, name, before, after, "as it is", "fixed");
}
