/** The words of one command, by commander, and the help of that command. */
import { Command, CommanderError, Option } from "commander";
import type { CliCommand, FlagSpec } from "./command.ts";
import { meant, type Parsed } from "./parse.ts";
import { GLOBAL_FLAGS } from "./table/flags.ts";

/** Reads what stands after the path of the command. */
export async function parseWords(command: CliCommand, words: readonly string[]): Promise<Parsed> {
  let text = "";
  let complaint = "";
  const program = new Command(`millrace ${command.path.join(" ")}`)
    .description(command.summary)
    .exitOverride()
    .configureOutput({
      writeOut: (part) => {
        text += part;
      },
      writeErr: (part) => {
        complaint += part;
      },
    })
    .showSuggestionAfterError(false)
    .helpOption("-h, --help", "show help");
  for (const arg of command.args) {
    const name = arg.variadic ? `${arg.name}...` : arg.name;
    program.argument(arg.required ? `<${name}>` : `[${name}]`, arg.summary);
  }
  for (const flag of command.flags) program.addOption(toOption(flag));
  program.optionsGroup("Every command:");
  for (const flag of GLOBAL_FLAGS) program.addOption(toOption(flag, shortsOf(command)));
  const examples = command.examples.map(({ line, says }) => `  ${line}    ${says}`);
  program.addHelpText("after", `\nExamples:\n${examples.join("\n")}\n`);
  program.action(() => {});
  try {
    program.parse(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.helpDisplayed") return { kind: "help", text };
    const message = complaint.trim().replace(/^error: /, "");
    const hint =
      error.code === "commander.unknownOption" ? await flagMeant(message, command) : undefined;
    return { kind: "usage", message, hint, command };
  }
  const options = program.opts() as Record<string, boolean | string | string[] | undefined>;
  const flags: Record<string, boolean | string | readonly string[] | undefined> = {};
  for (const { long } of [...command.flags, ...GLOBAL_FLAGS]) flags[long] = options[long];
  return { kind: "command", command, input: { args: program.args, flags } };
}

function flagMeant(message: string, { flags }: CliCommand): Promise<string | undefined> {
  const word = /'([^']*)'/.exec(message)?.[1] ?? "";
  return meant(word, ["--help", ...[...flags, ...GLOBAL_FLAGS].map(({ long }) => `--${long}`)]);
}

/** Letters that the command itself gives a meaning to; there `-q` is a query, and quiet is `--quiet`. */
function shortsOf({ flags }: CliCommand): readonly (string | undefined)[] {
  return flags.map(({ short }) => short);
}

function toOption(flag: FlagSpec, taken: readonly (string | undefined)[] = []): Option {
  const short = flag.short === undefined || taken.includes(flag.short) ? "" : `-${flag.short}, `;
  const option = new Option(
    `${short}--${flag.long}${flag.value === undefined ? "" : ` ${flag.value}`}`,
    flag.summary,
  );
  // commander would read `--no-prompt` as the negation of `--prompt`.
  option.negate = false;
  if (flag.choices !== undefined) option.choices([...flag.choices]);
  if (flag.multiple)
    option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
  // Flags are kept under their own spelling.
  option.attributeName = () => flag.long;
  return option;
}
