/** Output of `--verbose` about the code of extensions: their standard output and error, and the errors they throw. */

import type { ThrowPlace } from "@millrace/engine";
import type { OutputLine } from "@millrace/extensions";
import type { CommandIo } from "../argv/spec.ts";
import { clean, cleanLines } from "./text.ts";

/** Lines for a developer. A display that draws on the terminal takes them over by setting `say`. */
export interface DebugLines {
  say(line: string): void;
  readonly output: (line: OutputLine) => void;
  readonly onError: (error: unknown, at: ThrowPlace) => void;
}

/** Undefined without `--verbose`. */
export function debugLines(io: CommandIo): DebugLines | undefined {
  if (io.verbosity !== "verbose") return undefined;
  const lines: DebugLines = {
    say: (line) => void io.err.write(`${line}\n`),
    output: ({ extension, stream, text }) =>
      lines.say(`${clean(extension)} ${stream}: ${clean(text)}`),
    onError(error, { node, type, attempt, redact }) {
      const text = error instanceof Error ? `${error.stack ?? error}` : String(error);
      lines.say(clean(`${node}: attempt ${attempt} of ${type} threw`));
      for (const line of cleanLines(redact(text))) lines.say(`  ${line}`);
    },
  };
  return lines;
}
