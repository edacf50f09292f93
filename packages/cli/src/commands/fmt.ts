/** `millrace fmt`: the one canonical form. A file with errors stays as it is. */

import { isUtf8 } from "node:buffer";
import { resolve } from "node:path";
import { formatFlow, parseFlow } from "@millrace/dsl";
import { createTwoFilesPatch } from "diff";
import { command, say } from "../argv/flags.ts";
import { type CliCommand, type CommandIo, type Input, isOn } from "../argv/spec.ts";
import { CliError, usage } from "../errors.ts";
import { expandFiles, readInput, replaceFile } from "../files.ts";
import { invalidFlow, isValid, showFindings } from "../output/findings.ts";
import { clean } from "../output/text.ts";

export const commands: readonly CliCommand[] = [
  command("fmt", "rewrite flows into their one canonical form", {
    args: [
      {
        name: "files",
        summary: "files or folders; - for stdin to stdout",
        required: true,
        variadic: true,
      },
    ],
    flags: [
      { long: "check", summary: "change nothing, print the difference, exit 1 where there is one" },
      { long: "stdout", summary: "print instead of writing" },
    ],
    output: "check",
    examples: [["fmt --check hello.flow", "for continuous integration"]],
    run,
  }),
];

/** Formats every file in place, or with `--check` only says which would change. */
async function run(input: Input, io: CommandIo): Promise<number> {
  const check = isOn(input, "check");
  const toStdout = isOn(input, "stdout");
  if (check && toStdout) throw usage("--check and --stdout cannot be used together");
  const broken = [];
  let different = 0;
  for (const file of await expandFiles(input.args, io)) {
    if (io.signal.aborted) break;
    const bytes = await readInput(file, io);
    const name = file === "-" ? "<stdin>" : file;
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    // Bytes that are no text have no canonical form; the parser says where they are.
    const result = isUtf8(bytes)
      ? formatFlow(text)
      : { text, changed: false, diagnostics: parseFlow(bytes).diagnostics };
    const valid = isValid(result.diagnostics);
    if (io.json !== undefined) {
      await io.json.result({
        file: name,
        valid,
        changed: valid && result.changed,
        diagnostics: result.diagnostics,
      });
    }
    if (!valid) {
      broken.push(...result.diagnostics);
      await showFindings(result.diagnostics, { name, text }, io);
      continue;
    }
    if (check) {
      if (!result.changed) continue;
      different += 1;
      if (io.json === undefined) {
        await io.out.write(
          createTwoFilesPatch(name, name, text, result.text, "as it is", "canonical"),
        );
      }
    } else if (toStdout || file === "-") {
      if (io.json === undefined) await io.out.write(result.text);
    } else if (result.changed) {
      await replaceFile(resolve(io.cwd, file), result.text);
      await say(io, clean(file));
    }
  }
  if (broken.length > 0) throw invalidFlow(broken);
  if (different > 0) {
    const message = `${different} ${different === 1 ? "file is" : "files are"} not in canonical form`;
    throw new CliError("check_failed", message, { hint: "run millrace fmt without --check" });
  }
  return 0;
}
