/** What the words of a command line say about configuration. */
import { type CommandIo, flagText, type Input } from "../command.ts";
import type { CliIo } from "../io.ts";
import type { ConfigOptions } from "./files.ts";

/** The files that `--config` and `--home` name. */
export function configWords(input: Input): Omit<ConfigOptions, "folder"> {
  return { file: flagText(input, "config"), home: flagText(input, "home") };
}

/** The same, with a search that begins in the working directory. */
export function configOptions(input: Input, io: CliIo): ConfigOptions {
  return { folder: io.cwd, ...configWords(input) };
}

/** Warnings of the configuration go to stderr. */
export function warnOn(io: CommandIo): (line: string) => void {
  return (line) => void io.err.write(`warning: ${line}\n`);
}
