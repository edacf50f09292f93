/** The words of one command, by commander, and the help of that command. */

import { Command, CommanderError, Option } from "commander";
import { GLOBAL_FLAGS } from "./flags.ts";
import type { ArgSpec, CliCommand, FlagSpec, Parsed } from "./spec.ts";
import { meant } from "./suggest.ts";

/** Help fits the narrowest of common terminals. */
const HELP_COLUMNS = 80;

/** Reads what stands after the path of the command. */
export async function parseWords(command: CliCommand, words: readonly string[]): Promise<Parsed> {
  const name = `millrace ${command.path.join(" ")}`;
  let text = "";
  let complaint = "";
  const program = new Command(name)
    .description(command.summary)
    .usage(["[flags]", ...command.args.map(shownArg)].join(" "))
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
    .addHelpOption(new Option("-h, --help", "show help").helpGroup("Every command:"))
    .optionsGroup("Flags:");
  for (const arg of command.args) program.argument(shownArg(arg), arg.summary);
  for (const flag of command.flags) program.addOption(toOption(flag));
  program.optionsGroup("Every command:");
  for (const flag of GLOBAL_FLAGS) program.addOption(toOption(flag, shortsOf(command)));
  program.addHelpText("after", `\nExamples:\n${exampleLines(command).join("\n")}`);
  program.action(() => {});
  try {
    program.parse(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.helpDisplayed") return { kind: "help", text };
    const message = complaint.trim().replace(/^error: |\.$/g, "");
    const help = `${name} --help shows them`;
    switch (error.code) {
      case "commander.unknownOption":
        return { kind: "usage", message, hint: await flagMeant(message, command), command };
      case "commander.missingArgument": {
        const missing = command.args.find((arg) => message.includes(`'${arg.name}'`));
        const what =
          missing === undefined ? message : `it needs ${shownArg(missing)}: ${missing.summary}`;
        return { kind: "usage", message: what, hint: help, command };
      }
      default:
        return { kind: "usage", message, hint: help, command };
    }
  }
  const message = emptyWord(command, program.args);
  if (message !== undefined)
    return { kind: "usage", message, hint: `${name} --help shows what it takes`, command };
  const options = program.opts() as Record<string, boolean | string | string[] | undefined>;
  const flags: Record<string, boolean | string | readonly string[] | undefined> = {};
  for (const flag of [...command.flags, ...GLOBAL_FLAGS]) {
    const value = options[flag.long];
    const message = otherThan(flag, value);
    if (message !== undefined) return { kind: "usage", message, hint: undefined, command };
    flags[flag.long] = value;
  }
  return { kind: "command", command, input: { args: program.args, flags } };
}

/** What is wrong with an empty word: most often a variable of a shell that is not set. */
function emptyWord({ args }: CliCommand, words: readonly string[]): string | undefined {
  const at = words.indexOf("");
  const arg = args[at] ?? args.findLast(({ variadic }) => variadic);
  if (at < 0 || arg === undefined || arg.mayBeEmpty) return undefined;
  return `${shownArg(arg)} is empty: ${arg.summary}`;
}

/** What is wrong with a value, or one of several, that is none of the words which the flag takes. */
function otherThan(
  { long, choices, value: takes }: FlagSpec,
  value: boolean | string | string[] | undefined,
): string | undefined {
  if (value === "" && (takes === "<file>" || takes === "<dir>")) {
    return `--${long} takes a ${takes === "<dir>" ? "folder" : "file"}, found ""`;
  }
  if (choices === undefined || value === undefined) return undefined;
  const odd = [value].flat().find((each) => !choices.includes(String(each)));
  const known = choices.join(", ").replace(/, (?=[^,]*$)/, " or ");
  return odd === undefined ? undefined : `--${long} takes ${known}, found "${odd}"`;
}

function shownArg({ name, required, variadic }: ArgSpec): string {
  const word = variadic ? `${name}...` : name;
  return required ? `<${word}>` : `[${word}]`;
}

/** What an example says stands beside it, or below where the lines would be too long. */
function exampleLines({ examples }: CliCommand): string[] {
  const width = Math.max(...examples.map(({ line }) => line.length));
  const fits = examples.every(({ says }) => width + says.length + 4 <= HELP_COLUMNS);
  return examples.flatMap(({ line, says }) =>
    fits ? [`  ${line.padEnd(width)}  ${says}`] : [`  ${line}`, `      ${says}`],
  );
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
  if (flag.choices !== undefined) option.argChoices = [...flag.choices]; // for help; checked once all words are read
  if (flag.multiple)
    option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
  // Flags are kept under their own spelling.
  option.attributeName = () => flag.long;
  return option;
}
