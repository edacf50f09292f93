/** Words to an `Input`, by commander from our table; and the help texts, from the same table. */
import { Command, CommanderError, Option } from "commander";
import type { CliCommand, FlagSpec, Input } from "./command.ts";
import { GLOBAL_FLAGS } from "./table/flags.ts";
import { COMMANDS } from "./table.ts";

/** What the words ask for. */
export type Parsed =
  | { readonly kind: "command"; readonly command: CliCommand; readonly input: Input }
  | { readonly kind: "help"; readonly text: string }
  | {
      readonly kind: "usage";
      readonly message: string;
      readonly hint: string | undefined;
      /** The command whose words are wrong, if it is one. */
      readonly command: CliCommand | undefined;
    };

/** Reads a command line (without `node` and the script). Runs nothing. */
export function parseArguments(argv: readonly string[]): Parsed {
  let result: Parsed | undefined;
  let text = "";
  let complaint = "";
  const output = {
    writeOut: (part: string) => {
      text += part;
    },
    writeErr: (part: string) => {
      complaint += part;
    },
  };
  const program = new Command("millrace")
    .description("Runs flows and reports what happens as one stream of events.")
    .usage("<command> [flags]")
    .exitOverride()
    .configureOutput(output)
    .showSuggestionAfterError(true)
    .helpOption("-h, --help", "show help")
    .helpCommand(false)
    .option("-V, --version", "print the version")
    .addHelpText("after", "\nFlags of one command: millrace <command> --help\n");
  const groups = new Map<string, Command>();
  const groupOf = (name: string): Command => {
    const group =
      groups.get(name) ??
      new Command(name)
        .description(actionsOf(name).join(", "))
        .usage("<action> [flags]")
        .exitOverride()
        .configureOutput(output)
        .helpOption("-h, --help", "show help")
        .helpCommand(false);
    if (!groups.has(name)) program.addCommand(group);
    groups.set(name, group);
    return group;
  };
  for (const command of COMMANDS) {
    const [first, action] = command.path;
    const sub = new Command(action ?? first)
      .description(command.summary)
      .exitOverride()
      .configureOutput(output)
      .helpOption("-h, --help", "show help");
    for (const arg of command.args) {
      const name = arg.variadic ? `${arg.name}...` : arg.name;
      sub.argument(arg.required ? `<${name}>` : `[${name}]`, arg.summary);
    }
    for (const flag of command.flags) sub.addOption(toOption(flag));
    sub.optionsGroup("Every command:");
    for (const flag of GLOBAL_FLAGS) sub.addOption(toOption(flag));
    sub.addHelpText(
      "after",
      `\nExamples:\n${command.examples.map((each) => `  ${each.line}    ${each.says}`).join("\n")}\n`,
    );
    sub.action(() => {
      const options = sub.opts() as Record<string, boolean | string | string[] | undefined>;
      const flags: Record<string, boolean | string | readonly string[] | undefined> = {};
      for (const flag of [...command.flags, ...GLOBAL_FLAGS])
        flags[flag.long] = options[attribute(flag)];
      result = { kind: "command", command, input: { args: sub.args, flags } };
    });
    (action === undefined ? program : groupOf(first)).addCommand(sub);
  }
  const words = commandFirst(argv);
  try {
    program.parse(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (
      error.code === "commander.helpDisplayed" ||
      (error.code === "commander.help" && argv.length === 0)
    ) {
      return { kind: "help", text: text || complaint };
    }
    const actions = actionsOf(words[0]);
    if (error.code === "commander.help" && actions.length > 0) {
      const message = `${words[0]} needs an action: ${actions.join(", ")}`;
      return { kind: "usage", message, hint: undefined, command: undefined };
    }
    const [first = "", ...rest] = complaint.trim().split("\n");
    const hint = rest
      .join(" ")
      .replace(/^\(|\)$/g, "")
      .trim();
    return {
      kind: "usage",
      message: first.replace(/^error: /, ""),
      hint: hint === "" ? undefined : hint.charAt(0).toLowerCase() + hint.slice(1),
      command: COMMANDS.find(({ path }) => path.every((word, at) => word === words[at])),
    };
  }
  return result ?? { kind: "help", text: program.helpInformation() };
}

/** Flags of every command may also stand before it. */
function commandFirst(argv: readonly string[]): string[] {
  let at = 0;
  for (; argv[at]?.startsWith("-"); at++) {
    const word = argv[at];
    const flag = GLOBAL_FLAGS.find(
      ({ long, short }) =>
        word === `--${long}` || word?.startsWith(`--${long}=`) || word === `-${short}`,
    );
    if (flag === undefined) return [...argv];
    if (flag.value !== undefined && word === `--${flag.long}`) at += 1;
  }
  if (at === argv.length) return [...argv];
  const end = at + (actionsOf(argv[at]).length > 0 ? 2 : 1);
  return [...argv.slice(at, end), ...argv.slice(0, at), ...argv.slice(end)];
}

/** Second words of the commands that begin with this one. */
function actionsOf(first: string | undefined): string[] {
  return COMMANDS.flatMap(({ path }) => (path[0] === first ? path.slice(1) : []));
}

function toOption(flag: FlagSpec): Option {
  const short = flag.short === undefined ? "" : `-${flag.short}, `;
  const option = new Option(
    `${short}--${flag.long}${flag.value === undefined ? "" : ` ${flag.value}`}`,
    flag.summary,
  );
  // commander would read `--no-prompt` as the negation of `--prompt`.
  option.negate = false;
  if (flag.choices !== undefined) option.choices([...flag.choices]);
  if (flag.multiple)
    option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
  option.attributeName = () => attribute(flag);
  return option;
}

/** Flags are kept under their own spelling. */
function attribute(flag: FlagSpec): string {
  return flag.long;
}
