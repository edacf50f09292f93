/** `millrace lsp`: the language server on standard input and output. Nothing of a project runs, and nothing is asked of a network. */

import { appendFileSync } from "node:fs";
import { resolve } from "node:path";
import { createLanguageServer } from "@millrace/language-server";
import { command } from "../argv/flags.ts";
import { type CliCommand, type CommandIo, flagText, type Input } from "../argv/spec.ts";
import { projectOf } from "../run/project-of.ts";
import { ownVersion } from "../self.ts";

export const commands: readonly CliCommand[] = [
  command("lsp", "answer an editor: the language server on stdin and stdout", {
    flags: [
      { long: "stdio", summary: "use stdin and stdout; this is the default and the only way" },
      { long: "log", value: "<file>", summary: "append what the server notices to a file" },
    ],
    output: "text",
    examples: [["lsp", "what an editor starts; see the guide about editors"]],
    run,
  }),
];

/** Serves one editor until it leaves: 0 after `shutdown`, else 1. */
async function run(input: Input, io: CommandIo): Promise<number> {
  const file = flagText(input, "log");
  const path = file === undefined ? undefined : resolve(io.cwd, file);
  const log = (line: string): void => {
    if (path === undefined) return;
    appendFileSync(path, `${new Date(io.now()).toISOString()} ${line}\n`);
  };
  const { ended } = createLanguageServer({
    reader: io.stdin,
    writer: io.stdout,
    version: ownVersion(),
    projectFor: (folder) => projectOf(folder, io),
    log,
  });
  return ended;
}
