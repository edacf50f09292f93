/** Findings of checks in a flow: whether it may run, how they are shown, and the exit of a command that finds errors. */

import type { Diagnostic } from "@millrace/contracts";
import type { CommandIo } from "../argv/spec.ts";
import { CliError } from "../errors.ts";
import { renderDiagnostics } from "./code-frame.ts";
import { createStyle } from "./style.ts";

/** Whether a flow may run: no error among its findings, and no warning either when `strict`. */
export function isValid(findings: readonly Diagnostic[], strict = false): boolean {
  return findings.every(
    ({ severity }) => severity === "info" || (severity === "warning" && !strict),
  );
}

/** Findings that keep a flow from running. */
export function errorsOf(findings: readonly Diagnostic[]): readonly Diagnostic[] {
  return findings.filter(({ severity }) => severity === "error");
}

/** "1 error", "2 errors, 1 warning, 1 info"; "nothing found". */
export function countFindings(findings: readonly Diagnostic[]): string {
  const words = (["error", "warning", "info"] as const)
    .map((severity) => ({ severity, n: findings.filter((is) => is.severity === severity).length }))
    .filter(({ n }) => n > 0)
    .map(({ severity, n }) => `${n} ${severity}${n === 1 ? "" : "s"}`);
  return words.join(", ") || "nothing found";
}

/** Shows findings at their places in the text, with `--quiet` errors alone. Under `--json` they are part of the answer. */
export async function showFindings(
  findings: readonly Diagnostic[],
  source: { readonly name: string; readonly text: string | undefined },
  io: CommandIo,
): Promise<void> {
  const shown = io.verbosity === "quiet" ? errorsOf(findings) : findings;
  if (io.json !== undefined || shown.length === 0) return;
  const text = await renderDiagnostics(shown, source, createStyle(io.colour, io.env));
  await io.err.write(`${text}\n`);
}

/** The end of a command whose flow is invalid. The errors were shown. */
export function invalidFlow(
  errors: readonly Diagnostic[],
  message: string = countFindings(errors),
): CliError {
  return new CliError("flow_invalid", message, { diagnostics: errors, reported: true });
}
