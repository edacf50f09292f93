/** `millrace completion`: the script for a shell. The build writes the scripts to files, and `bin` prints those. */

import { completionScript, SHELLS } from "../argv/completion/scripts.ts";
import { arg, command } from "../argv/flags.ts";
import {
  type CliCommand,
  type CommandIo,
  type CommandTable,
  type Input,
  loadCommands,
} from "../argv/spec.ts";
import { usage } from "../errors.ts";
import { clean } from "../output/text.ts";

export const commands: readonly CliCommand[] = [
  command("completion", "print the script that completes words in a shell", {
    args: [arg("shell", "bash, zsh or fish", "shell")],
    output: "text",
    examples: [["completion bash", "source it in ~/.bashrc"]],
    run,
  }),
];

async function run(input: Input, io: CommandIo, table: CommandTable): Promise<number> {
  const [name = ""] = input.args;
  const shell = SHELLS.find((each) => each === name);
  if (shell === undefined)
    throw usage(`completion is for ${SHELLS.join(", ")}, not "${clean(name)}"`);
  await io.out.write(completionScript(shell, await loadCommands(table)));
  return 0;
}
