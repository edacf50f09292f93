/** Texts of help: of `millrace`, of a group of commands, of one command. All of them come from the table of commands. */
import { GLOBAL_FLAGS, shortOf } from "./flags.ts";
import type { ArgSpec, CliCommand, CommandTable, FlagSpec } from "./spec.ts";

/** Columns of help where there is no terminal, and of the lines of examples. */
export const HELP_COLUMNS = 80;
/** A column of text that is narrower is not wrapped. */
const MIN_COLUMNS = 40;

type Row = readonly [term: string, summary: string];

/** `millrace --help`. */
export function overview(table: CommandTable): string {
  const shown = table.filter(({ hidden }) => !hidden);
  return [
    "Usage: millrace <command> [flags]",
    "Runs flows and reports what happens as one stream of events.",
    `Flags:\n${columns([
      ["-V, --version", "print the version"],
      ["-h, --help", "show help"],
    ])}`,
    `Commands:\n${columns(shown.map(({ name, says }) => [name, says]))}`,
    "Flags of one command: millrace <command> --help\nA project to begin with: millrace init my-flows\n",
  ].join("\n\n");
}

/** `millrace runs --help`. `commands`: those of the group. */
export function groupHelp(group: string, commands: readonly CliCommand[]): string {
  const rows = commands.map(({ path, summary }): Row => [path.slice(1).join(" "), summary]);
  return [
    `Usage: millrace ${group} <action> [flags]`,
    `Commands:\n${columns(rows)}`,
    `Flags of one of them: millrace ${group} <action> --help\n`,
  ].join("\n\n");
}

/** `millrace run --help`, wrapped at `width` columns. */
export function commandHelp(command: CliCommand, width: number): string {
  const args = command.args.map(({ name, summary }): Row => [name, summary]);
  const own = command.flags.map((flag) => flagRow(flag, flag.short));
  const common = GLOBAL_FLAGS.map((flag) => flagRow(flag, shortOf(flag, command)));
  const sections: readonly (readonly [string, readonly Row[]])[] = [
    ["Arguments:", args],
    ["Flags:", own],
    ["Every command:", [...common, ["-h, --help", "show help"]]],
  ];
  const termWidth = Math.max(...sections.flatMap(([, rows]) => rows.map(([term]) => term.length)));
  const lines = [usageLine(command), "", ...wrapped(command.summary, width), ""];
  for (const [heading, rows] of sections) {
    if (rows.length === 0) continue;
    lines.push(heading);
    for (const [term, summary] of rows) {
      const [first = "", ...rest] = wrapped(summary, width - termWidth - 4);
      lines.push(`  ${term.padEnd(termWidth)}  ${first}`);
      lines.push(...rest.map((line) => `${" ".repeat(termWidth + 4)}${line}`));
    }
    lines.push("");
  }
  return `${lines.join("\n")}\nExamples:\n${exampleLines(command).join("\n")}\n`;
}

/** `<flow>`, `[files...]`. */
export function shownArg({ name, required, variadic }: ArgSpec): string {
  const word = variadic ? `${name}...` : name;
  return required ? `<${word}>` : `[${word}]`;
}

/** `-i, --input <k=v>`. */
export function shownFlag({ long, value }: FlagSpec, short: string | undefined): string {
  return `${short === undefined ? "" : `-${short}, `}--${long}${value === undefined ? "" : ` ${value}`}`;
}

function usageLine({ path, args }: CliCommand): string {
  return ["Usage: millrace", ...path, "[flags]", ...args.map(shownArg)].join(" ");
}

function flagRow(flag: FlagSpec, short: string | undefined): Row {
  const { choices, summary } = flag;
  const known = choices?.map((choice) => JSON.stringify(choice)).join(", ");
  return [shownFlag(flag, short), known === undefined ? summary : `${summary} (choices: ${known})`];
}

/** An example and its meaning in one line, or in two where one of the lines would be too long. */
function exampleLines({ examples }: CliCommand): string[] {
  const width = Math.max(...examples.map(({ line }) => line.length));
  const fits = examples.every(({ says }) => width + says.length + 4 <= HELP_COLUMNS);
  return examples.flatMap(({ line, says }) =>
    fits ? [`  ${line.padEnd(width)}  ${says}`] : [`  ${line}`, `      ${says}`],
  );
}

function columns(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, says]) => `  ${name.padEnd(width)}  ${says}`).join("\n");
}

/** Lines of at most `width` characters, unless that is too narrow. */
function wrapped(text: string, width: number): string[] {
  if (width < MIN_COLUMNS) return [text];
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}
