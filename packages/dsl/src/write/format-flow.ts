/** `formatFlow`: canonical text from text. */
import type { Diagnostic } from "@millrace/contracts";
import { limitsOf, type ParseOptions } from "../read/parse-flow.ts";
import { readText } from "../read/read-text.ts";
import { FilePrinter } from "./print-flow.ts";

/** What `formatFlow` answers. */
export interface FormatResult {
  readonly text: string;
  /** Whether `text` differs from what was given. */
  readonly changed: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Formats a flow. Comments stay; the graph stays the same. Text with errors of the families 0 and 1 comes back as it was,
 * because what could not be read would be lost, and so does one with a call of what is no name. Never throws.
 */
export function formatFlow(source: string, options: ParseOptions = {}): FormatResult {
  const { report, collected, foot } = readText(source, limitsOf(options), {
    collect: () => new FilePrinter(),
  });
  const diagnostics = report.diagnostics(source);
  const text = diagnostics.some(hidesText) ? source : collected.finish(foot);
  return { text, changed: text !== source, diagnostics };
}

/** Whether something could not be read; a call that is read as another one has a fix. */
function hidesText({ code, severity, fixes }: Diagnostic): boolean {
  return severity === "error" && (/^FLOW[01]/.test(code) || (code === "FLOW5003" && !fixes));
}
