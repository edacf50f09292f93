/** A command line to a command and its `Input`, or to help, or to what is wrong with it. Runs nothing. */
import { NOUNS } from "../commands/index.ts";
import { flagsBefore, GLOBAL_FLAGS } from "./flags.ts";
import { groupHelp, HELP_COLUMNS, overview } from "./help.ts";
import { parseCommand } from "./parse-command.ts";
import type { CliCommand, Noun, Parsed } from "./spec.ts";
import { meant } from "./suggest.ts";

/** Reads a command line (without `node` and the script). `columns`: those of the terminal that help is read on, default 80. */
export async function parseArguments(
  argv: readonly string[],
  columns: number = HELP_COLUMNS,
): Promise<Parsed> {
  const words = argv[0] === "help" ? [...argv.slice(1), "--help"] : argv;
  // Flags of every command may also stand before it.
  const before = flagsBefore(words);
  const [first, ...rest] = words.slice(before);
  const noun = NOUNS.find(({ name }) => name === first);
  const globals = words.slice(0, before);
  if (noun === undefined) {
    const isCommand = first !== undefined && !first.startsWith("-");
    return withoutCommand(isCommand ? [first, ...rest, ...globals] : words);
  }
  const { commands } = await noun.load();
  const command = commands.find(({ path }) => path[1] === undefined || path[1] === rest[0]);
  if (command === undefined) return withoutAction(noun, commands, [...rest, ...globals]);
  const after = rest.slice(command.path.length - 1);
  if (noun.hidden) {
    const args = after[0] === "--" ? after.slice(1) : after;
    return { kind: "command", command, input: { args, flags: {} } };
  }
  return parseCommand(command, [...globals, ...after], columns);
}

async function withoutCommand(words: readonly string[]): Promise<Parsed> {
  const [first] = words;
  if (first === undefined || (wantsHelp(words) && first.startsWith("-"))) {
    return { kind: "help", text: overview(NOUNS) };
  }
  if (first.startsWith("-")) {
    const flags = GLOBAL_FLAGS.map(({ long }) => `--${long}`);
    if (flags.includes(first.replace(/=.*/, ""))) {
      return wrong("a command is missing", "millrace --help lists them");
    }
    return wrong(
      `unknown option '${first}'`,
      await meant(first, [...flags, "--version", "--help"]),
    );
  }
  const names = NOUNS.filter(({ hidden }) => !hidden).map(({ name }) => name);
  return wrong(`unknown command '${first}'`, await meant(first, names));
}

/** A group of commands, and words that name none of them. */
async function withoutAction(
  { name }: Noun,
  commands: readonly CliCommand[],
  words: readonly string[],
): Promise<Parsed> {
  if (wantsHelp(words)) return { kind: "help", text: groupHelp(name, commands) };
  const actions = commands.map(({ path }) => path[1] as string);
  const [action] = words;
  if (action === undefined || action.startsWith("-")) {
    return wrong(`${name} needs an action: ${actions.join(", ")}`, undefined);
  }
  return wrong(`unknown command '${name} ${action}'`, await meant(action, actions));
}

function wantsHelp(words: readonly string[]): boolean {
  return words.includes("--help") || words.includes("-h");
}

function wrong(message: string, hint: string | undefined): Parsed {
  return { kind: "usage", message, hint, command: undefined };
}
