/** A diagnostic as people read it: what, where, the lines around it, and how to mend it. */
import type { Diagnostic } from "@millrace/contracts";
import type { Style } from "./style.ts";
import { clean, width } from "./text.ts";

/** More than this many findings scroll the first one, which is the one to read, off the screen. */
const MAX_SHOWN = 20;
const LINES_AROUND = 1;

/** All findings of one file, worst first in reading order; "and N more" where there are too many. */
export function renderDiagnostics(
  diagnostics: readonly Diagnostic[],
  source: { readonly name: string; readonly text: string | undefined },
  style: Style,
): string {
  const lines = source.text?.split("\n");
  const shown = diagnostics
    .slice(0, MAX_SHOWN)
    .map((each) => frame(each, source.name, lines, style));
  const rest = diagnostics.length - shown.length;
  if (rest > 0) shown.push(`and ${rest} more\n`);
  return shown.join("\n");
}

function frame(
  diagnostic: Diagnostic,
  name: string,
  lines: readonly string[] | undefined,
  style: Style,
): string {
  const paint =
    diagnostic.severity === "error"
      ? style.bad
      : diagnostic.severity === "warning"
        ? style.warn
        : style.busy;
  const head = `${paint(`${diagnostic.severity}[${diagnostic.code}]`)} ${style.bold(clean(diagnostic.message))}\n`;
  const { range } = diagnostic;
  if (range === undefined || lines === undefined) {
    const where =
      diagnostic.pointer === undefined ? name : `${name} at ${clean(diagnostic.pointer)}`;
    return `${head}  ${where}\n${hintLine(diagnostic, style)}`;
  }
  const { line, column } = range.start;
  const first = Math.max(1, line - LINES_AROUND);
  const last = Math.min(lines.length, line + LINES_AROUND);
  const gutter = String(last).length;
  let text = `${head}  ${clean(name)}:${line}:${column}\n`;
  for (let number = first; number <= last; number++) {
    const content = lines[number - 1] ?? "";
    if (number !== line && content.trim() === "") continue;
    text += `  ${style.dim(`${String(number).padStart(gutter)} |`)} ${shownLine(content)}\n`;
    if (number === line) {
      const before = width(shownLine(content.slice(0, column - 1)));
      const end = range.end.line === line ? range.end.column - 1 : content.length;
      const marked = Math.max(1, width(shownLine(content.slice(column - 1, end))));
      const hint = diagnostic.hint === undefined ? "" : ` ${clean(diagnostic.hint)}`;
      text += `  ${style.dim(`${" ".repeat(gutter)} |`)} ${" ".repeat(before)}${paint(`${"^".repeat(marked)}${hint}`)}\n`;
    }
  }
  const fix = diagnostic.fixes?.[0];
  return fix === undefined ? text : `${text}  fix: ${clean(fix.title)}\n`;
}

function hintLine(diagnostic: Diagnostic, style: Style): string {
  return diagnostic.hint === undefined ? "" : `  ${style.dim(clean(diagnostic.hint))}\n`;
}

function shownLine(line: string): string {
  return clean(line.replace(/\r$/, "").replaceAll("\t", "  "));
}
