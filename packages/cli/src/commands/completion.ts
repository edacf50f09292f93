/** `millrace completion`: the script for a shell. What is built keeps the scripts as files, and `bin` prints those. */

import { completionScript, SHELLS } from "../argv/completion/scripts.ts";
import type { CliCommand, CommandIo, Input } from "../argv/spec.ts";
import { usage } from "../errors.ts";
import { clean } from "../output/text.ts";

/** Prints the script. */
export async function run(
  input: Input,
  io: CommandIo,
  commands: readonly CliCommand[],
): Promise<number> {
  const [name = ""] = input.args;
  const shell = SHELLS.find((each) => each === name);
  if (shell === undefined)
    throw usage(`completion is for ${SHELLS.join(", ")}, not "${clean(name)}"`);
  await io.out.write(completionScript(shell, commands));
  return 0;
}
