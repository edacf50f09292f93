/** A command line to a command and its `Input`, or to help, or to what is wrong with it. Runs nothing. */
import { COMMANDS, SHOWN } from "../commands/table/index.ts";
import { flagsBefore, GLOBAL_FLAGS } from "./flags.ts";
import { actionsOf, groupHelp, HELP_COLUMNS, overview } from "./help.ts";
import type { CliCommand, Parsed } from "./spec.ts";
import { meant } from "./suggest.ts";

type Usage = Extract<Parsed, { kind: "usage" }>;

/** Reads a command line (without `node` and the script). `columns`: those of the terminal that help is read on, default 80. */
export async function parseArguments(
  argv: readonly string[],
  columns: number = HELP_COLUMNS,
): Promise<Parsed> {
  const words = commandFirst(argv[0] === "help" ? [...argv.slice(1), "--help"] : argv);
  const command = commandOf(words);
  if (command === undefined) return withoutCommand(words);
  const rest = words.slice(command.path.length);
  if (command.hidden) {
    const args = rest[0] === "--" ? rest.slice(1) : rest;
    return { kind: "command", command, input: { args, flags: {} } };
  }
  const { parseCommand } = await import("./parse-command.ts");
  return parseCommand(command, rest, columns);
}

/** The command that these words begin with. */
function commandOf(words: readonly string[]): CliCommand | undefined {
  return COMMANDS.filter(({ path }) => path.every((word, at) => word === words[at])).sort(
    (a, b) => b.path.length - a.path.length,
  )[0];
}

async function withoutCommand(words: readonly string[]): Promise<Parsed> {
  const [first, second] = words;
  const wantsHelp = words.includes("--help") || words.includes("-h");
  if (first === undefined || (wantsHelp && first.startsWith("-"))) {
    return { kind: "help", text: overview(SHOWN) };
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
  const depth = groupDepth(words);
  const path = words.slice(0, depth);
  const actions = actionsOf(path, SHOWN);
  const group = path.join(" ");
  const next = words[depth];
  if (depth > 0 && wantsHelp) return { kind: "help", text: groupHelp(path, SHOWN) };
  if (depth > 0 && (next === undefined || next.startsWith("-"))) {
    return wrong(`${group} needs an action: ${actions.join(", ")}`, undefined);
  }
  if (depth > 0 && second !== undefined) {
    return wrong(`unknown command '${group} ${next}'`, await meant(next ?? "", actions));
  }
  return wrong(`unknown command '${first}'`, await meant(first, actionsOf([], SHOWN)));
}

function wrong(message: string, hint: string | undefined): Usage {
  return { kind: "usage", message, hint, command: undefined };
}

/** How many of the words name a group of commands. */
function groupDepth(words: readonly string[]): number {
  let depth = 0;
  while (words[depth] !== undefined && actionsOf(words.slice(0, depth + 1), SHOWN).length > 0) {
    depth += 1;
  }
  return depth;
}

/** Flags of every command may also stand before it. */
function commandFirst(argv: readonly string[]): string[] {
  const at = flagsBefore(argv);
  const rest = argv.slice(at);
  if (rest[0]?.startsWith("-")) return [...argv];
  const depth = commandOf(rest)?.path.length ?? rest.length;
  if (depth === 0) return [...argv];
  return [...rest.slice(0, depth), ...argv.slice(0, at), ...rest.slice(depth)];
}
