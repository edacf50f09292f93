/** Parses a command line: to a command and its `Input`, to help, or to a usage error. Runs nothing. */

import { parseArgs } from "node:util";
import { NOUNS } from "../commands/index.ts";
import { flagsBefore, GLOBAL_FLAGS, shortOf } from "./flags.ts";
import { commandHelp, groupHelp, HELP_COLUMNS, overview, shownArg, shownFlag } from "./help.ts";
import type { CliCommand, FlagSpec, Noun, Parsed } from "./spec.ts";
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

const NEGATIVE_NUMBER = /^-(?:\d+|\d*\.\d+)(?:e[+-]?\d+)?$/;

type Usage = Extract<Parsed, { kind: "usage" }>;

/** Reads the words after the path of a command. `columns`: how wide its help may be. */
async function parseCommand(
  command: CliCommand,
  words: readonly string[],
  columns: number,
): Promise<Parsed> {
  const flags = [
    ...command.flags,
    ...GLOBAL_FLAGS.map((flag) => ({ ...flag, short: shortOf(flag, command) })),
  ];
  const { args, values, unknown, incomplete } = readTokens(flags, words);
  const help = `millrace ${command.path.join(" ")} --help`;
  const refuse = (message: string, hint?: string): Usage => ({
    kind: "usage",
    message,
    hint,
    command,
  });
  if (incomplete !== undefined) {
    const shown = shownFlag(incomplete, incomplete.short);
    return refuse(`option '${shown}' argument missing`, `${help} shows them`);
  }
  if (unknown.some((word) => word === "--help" || word === "-h")) {
    return { kind: "help", text: commandHelp(command, columns) };
  }
  const [odd] = unknown;
  if (odd !== undefined) {
    const known = ["--help", ...flags.map(({ long }) => `--${long}`)];
    return refuse(`unknown option '${odd}'`, await meant(odd, known));
  }
  const missing = command.args[args.length];
  if (missing?.required) {
    return refuse(`it needs ${shownArg(missing)}: ${missing.summary}`, `${help} shows them`);
  }
  const most = command.args.length;
  if (args.length > most && !command.args.at(-1)?.variadic) {
    const expected = `Expected ${most} argument${most === 1 ? "" : "s"} but got ${args.length}`;
    return refuse(`too many arguments. ${expected}`, `${help} shows them`);
  }
  const empty = emptyArgument(command, args);
  if (empty !== undefined) return refuse(empty, `${help} shows what it takes`);
  for (const flag of flags) {
    const why = misfitOf(flag, values[flag.long]);
    if (why !== undefined) return refuse(why);
  }
  return { kind: "command", command, input: { args, flags: values } };
}

/** The value of a flag: true of a switch, text, or a list of a flag that may be repeated. */
type Value = boolean | string | readonly string[] | undefined;

/** The parsed argv, before any check. */
interface Words {
  readonly args: readonly string[];
  readonly values: Readonly<Record<string, Value>>;
  /** Words that begin with a dash and are no flag of the command, as they were written. */
  readonly unknown: readonly string[];
  /** A flag at the end whose value is missing. */
  readonly incomplete: FlagSpec | undefined;
}

function readTokens(flags: readonly FlagSpec[], words: readonly string[]): Words {
  const known = new Map(flags.map((flag) => [flag.long, flag]));
  const options = Object.fromEntries(
    flags.map(({ long, short, value }) => [
      long,
      {
        type: value === undefined ? ("boolean" as const) : ("string" as const),
        ...(short && { short }),
      },
    ]),
  );
  const args: string[] = [];
  const values: Record<string, Value> = {};
  const unknown: string[] = [];
  let incomplete: FlagSpec | undefined;
  for (let rest = words; ; ) {
    const { tokens } = parseArgs({ args: [...rest], strict: false, tokens: true, options });
    // A word with an unknown letter is one unknown flag from there, or a negative number: parseArgs goes on letter by letter.
    const odd = tokens.findIndex(
      (token) =>
        (token.kind === "option" && !token.rawName.startsWith("--") && !known.has(token.name)) ||
        (token.kind === "option-terminator" && rest[token.index] !== "--"),
    );
    for (const token of odd < 0 ? tokens : tokens.slice(0, odd)) {
      if (token.kind === "positional") args.push(token.value);
      if (token.kind !== "option") continue;
      const { name, value, index } = token;
      const flag = known.get(name);
      if (flag !== undefined && flag.value === undefined && value === undefined) {
        values[name] = true;
      } else if (flag?.value === undefined) unknown.push(rest[index] ?? "");
      else if (value === undefined) incomplete = flag;
      else values[name] = flag.multiple ? [...listOf(values[name]), value] : value;
    }
    const token = tokens[odd];
    if (token === undefined) return { args, values, unknown, incomplete };
    const word = rest[token.index] ?? "";
    const letter = token.kind === "option" ? token.rawName.slice(1) : "-";
    const written = `-${word.slice(word.indexOf(letter, 1))}`;
    if (NEGATIVE_NUMBER.test(written)) args.push(written);
    else unknown.push(written);
    rest = rest.slice(token.index + 1);
  }
}

function listOf(value: Value): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

/** The problem of an empty argument: most often an unset variable of a shell. */
function emptyArgument({ args }: CliCommand, given: readonly string[]): string | undefined {
  const at = given.indexOf("");
  const arg = args[at] ?? args.findLast(({ variadic }) => variadic);
  if (at < 0 || arg === undefined || arg.mayBeEmpty) return undefined;
  return `${shownArg(arg)} is empty: ${arg.summary}`;
}

/** Why a flag does not take its value, or one of its values. */
function misfitOf({ long, choices, value: takes }: FlagSpec, value: Value): string | undefined {
  if (value === "" && (takes === "<file>" || takes === "<dir>")) {
    return `--${long} takes a ${takes === "<dir>" ? "folder" : "file"}, found ""`;
  }
  if (choices === undefined || value === undefined) return undefined;
  const odd = [value].flat().find((each) => !choices.includes(String(each)));
  const known = choices.join(", ").replace(/, (?=[^,]*$)/, " or ");
  return odd === undefined ? undefined : `--${long} takes ${known}, found "${odd}"`;
}
