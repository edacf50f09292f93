/** Words to a command and its `Input`; and the help texts that are about no single command. All of it from the table. */

import { COMMANDS, SHOWN } from "../commands/table/index.ts";
import { flagsBefore, GLOBAL_FLAGS } from "./flags.ts";
import type { CliCommand, Parsed } from "./spec.ts";
import { meant } from "./suggest.ts";

/** Reads a command line (without `node` and the script). Runs nothing. */
export async function parseArguments(argv: readonly string[]): Promise<Parsed> {
  const words = commandFirst(argv[0] === "help" ? [...argv.slice(1), "--help"] : argv);
  const command = commandOf(words);
  if (command === undefined) return withoutCommand(words);
  const rest = words.slice(command.path.length);
  if (command.hidden) {
    const args = rest[0] === "--" ? rest.slice(1) : rest;
    return { kind: "command", command, input: { args, flags: {} } };
  }
  const { parseWords } = await import("./parse-words.ts");
  return parseWords(command, rest);
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
    return { kind: "help", text: overview() };
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
  const group = words.slice(0, depth).join(" ");
  const actions = actionsOf(words.slice(0, depth));
  const next = words[depth];
  if (depth > 0 && wantsHelp)
    return { kind: "help", text: groupHelp(group, words.slice(0, depth)) };
  if (depth > 0 && (next === undefined || next.startsWith("-"))) {
    return wrong(`${group} needs an action: ${actions.join(", ")}`, undefined);
  }
  if (depth > 0 && second !== undefined) {
    return wrong(`unknown command '${group} ${next}'`, await meant(next ?? "", actions));
  }
  return wrong(`unknown command '${first}'`, await meant(first, actionsOf([])));
}

function wrong(message: string, hint: string | undefined): Parsed {
  return { kind: "usage", message, hint, command: undefined };
}

/** How many of the words name a group of commands. */
function groupDepth(words: readonly string[]): number {
  let depth = 0;
  while (words[depth] !== undefined && actionsOf(words.slice(0, depth + 1)).length > 0) depth += 1;
  return depth;
}

/** Words that may follow these, in the order of the table. */
function actionsOf(words: readonly string[]): string[] {
  const next = SHOWN.flatMap(({ path }) =>
    words.every((word, at) => word === path[at]) ? path.slice(words.length, words.length + 1) : [],
  );
  return [...new Set(next)];
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

function overview(): string {
  const rows = actionsOf([]).map((name): [string, string] => {
    const command = SHOWN.find(({ path }) => path[0] === name && path.length === 1);
    return [name, command?.summary ?? actionsOf([name]).join(", ")];
  });
  return [
    "Usage: millrace <command> [flags]",
    "Runs flows and reports what happens as one stream of events.",
    `Flags:\n${columns([
      ["-V, --version", "print the version"],
      ["-h, --help", "show help"],
    ])}`,
    `Commands:\n${columns(rows)}`,
    "Flags of one command: millrace <command> --help\nA project to begin with: millrace init my-flows\n",
  ].join("\n\n");
}

function groupHelp(group: string, words: readonly string[]): string {
  const rows = SHOWN.filter(({ path }) => words.every((word, at) => word === path[at])).map(
    ({ path, summary }): [string, string] => [path.slice(words.length).join(" "), summary],
  );
  return [
    `Usage: millrace ${group} <action> [flags]`,
    `Commands:\n${columns(rows)}`,
    `Flags of one of them: millrace ${group} <action> --help\n`,
  ].join("\n\n");
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, says]) => `  ${name.padEnd(width)}  ${says}`).join("\n");
}
