/** A diagnostic as people read it: what, where, the lines around it, and how to mend it. */

import type { Diagnostic } from "@millrace/contracts";
import { maskSecrets } from "@millrace/dsl";
import type { Style } from "./style.ts";
import { clean, isAscii } from "./text.ts";

/** More than this many findings scroll the first one, which is the one to read, off the screen. */
const MAX_SHOWN = 20;
const LINES_AROUND = 1;
/** Code around a finding, on one row: a file may be one line of megabytes. */
const MAX_LINE_LENGTH = 160;

/** All findings of one file, worst first in reading order; "and N more" where there are too many. */
export async function renderDiagnostics(
  diagnostics: readonly Diagnostic[],
  source: { readonly name: string; readonly text: string | undefined },
  style: Style,
): Promise<string> {
  const text = source.text === undefined ? undefined : hideSecrets(source.text, diagnostics);
  const width = text === undefined || isAscii(text) ? length : (await import("./cells.ts")).width;
  const context: Context = { name: clean(source.name), lines: text?.split("\n"), style, width };
  const shown = diagnostics.slice(0, MAX_SHOWN).map((each) => frame(each, context));
  const rest = diagnostics.length - shown.length;
  if (rest > 0) shown.push(`and ${rest} more\n`);
  return shown.join("\n");
}

/** A secret in a flow must not reach the log of a build as well: what validation found, and what looks like one elsewhere. */
function hideSecrets(text: string, diagnostics: readonly Diagnostic[]): string {
  let hidden = maskSecrets(text);
  for (const { code, range } of diagnostics) {
    if (code !== "FLOW6001" || range === undefined) continue;
    const { start, end } = range;
    const secret = text.slice(start.offset, end.offset).replace(/[^\n]/g, "*");
    hidden = hidden.slice(0, start.offset) + secret + hidden.slice(end.offset);
  }
  return hidden;
}

interface Context {
  readonly name: string;
  readonly lines: readonly string[] | undefined;
  readonly style: Style;
  readonly width: (text: string) => number;
}

function frame(diagnostic: Diagnostic, { name, lines, style, width }: Context): string {
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
  const from = column > MAX_LINE_LENGTH ? column - 1 - MAX_LINE_LENGTH / 2 : 0;
  let text = `${head}  ${name}:${line}:${column}\n`;
  for (let number = first; number <= last; number++) {
    const content = lines[number - 1] ?? "";
    if (number !== line && content.trim() === "") continue;
    const shown = content.slice(from, from + MAX_LINE_LENGTH);
    text += `  ${style.dim(`${String(number).padStart(gutter)} |`)} ${shownLine(shown)}\n`;
    if (number !== line) continue;
    const start = column - 1 - from;
    const end = range.end.line === line ? range.end.column - 1 - from : shown.length;
    const before = width(shownLine(shown.slice(0, start)));
    const marked = Math.max(1, width(shownLine(shown.slice(start, end))));
    const hint = diagnostic.hint === undefined ? "" : ` ${clean(diagnostic.hint)}`;
    text += `  ${style.dim(`${" ".repeat(gutter)} |`)} ${" ".repeat(before)}${paint(`${"^".repeat(marked)}${hint}`)}\n`;
  }
  const fix = diagnostic.fixes?.[0];
  return fix === undefined ? text : `${text}  fix: ${clean(fix.title)}\n`;
}

function hintLine(diagnostic: Diagnostic, style: Style): string {
  return diagnostic.hint === undefined ? "" : `  ${style.dim(clean(diagnostic.hint))}\n`;
}

function length(text: string): number {
  return text.length;
}

function shownLine(line: string): string {
  return clean(line.replace(/\r$/, "").replaceAll("\t", "  "));
}
