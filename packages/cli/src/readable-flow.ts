/** A flow whose text was understood, valid or not: what can be drawn and compared. */

import type { CommandIo, Input } from "./command.ts";
import { configWords } from "./config/words.ts";
import { CliError } from "./errors.ts";
import { countFindings, type FlowSource, loadFlow } from "./flow-source.ts";
import { renderDiagnostics } from "./render/code-frame.ts";
import { createStyle } from "./render/style.ts";

/** Reads a flow. Ends with `flow_invalid`, after showing where, when part of its text was not understood. */
export async function readableFlow(file: string, input: Input, io: CommandIo): Promise<FlowSource> {
  const source = await loadFlow(file, io, configWords(input));
  const unread = source.diagnostics.filter(
    ({ code, severity }) => severity === "error" && code < "FLOW2",
  );
  if (unread.length === 0) return source;
  if (io.json === undefined) {
    const style = createStyle(io.colour, io.env);
    await io.err.write(`${await renderDiagnostics(unread, source, style)}\n`);
  }
  throw new CliError("flow_invalid", countFindings(unread), { diagnostics: unread, told: true });
}
