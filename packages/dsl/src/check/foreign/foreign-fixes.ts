/** Fixes of errors in lines that are written as other languages write them. */

import type { Diagnostic } from "@millrace/contracts";
import { own } from "../../data.ts";
import { meantName, TYPE_ALIASES } from "../../diagnostics/aliases.ts";
import { lineIndex } from "../../diagnostics/bag.ts";
import { isBlockKeyword } from "../../language/blocks.ts";
import type { FlowCatalog } from "../catalog.ts";
import { KnownCatalog } from "../catalog.ts";
import type { Edit, FormText } from "./edits.ts";
import { FORMS } from "./forms.ts";
import { type Line, linesOf, placeOf } from "./lines.ts";

/** Errors that another way of writing may have, and whose fix is certain. */
const MAY_BE_FOREIGN = /^FLOW(?:[123]|4007|500[1-4])/;

/** The rest of the line is not read. */
const ENDS_LINE = /^FLOW1015/;

/**
 * The findings of a text, where an error in a line of another language has what is meant as its hint and its fix. Other fixes
 * that change what that fix changes are left out, and so is a second error that only says where reading the line ended. A text
 * without errors keeps its findings.
 */
export function withForeignFixes(
  source: string,
  diagnostics: readonly Diagnostic[],
  catalog: FlowCatalog,
): readonly Diagnostic[] {
  const isForeign = ({ code, severity }: Diagnostic): boolean =>
    (severity === "error" || code === "FLOW2003") && MAY_BE_FOREIGN.test(code);
  if (!diagnostics.some(isForeign)) return diagnostics;
  const text = formText(linesOf(source), new KnownCatalog(catalog));
  const toRange = lineIndex(source);
  const byLine = new Map<number, Diagnostic[]>();
  for (const each of diagnostics) {
    const line = each.range?.start.line ?? 0;
    byLine.set(line, [...(byLine.get(line) ?? []), each]);
  }
  const chosen = new Map<Diagnostic, ForeignForm>();
  const explained = new Set<Diagnostic>();
  const taken = new Set<string>();
  for (const [number, findings] of byLine) {
    const line = text.lines[number - 1];
    const first = findings.find(isForeign);
    if (!line || !first) continue;
    const form = foreignForm(
      line,
      text,
      findings.some(({ fixes }) => fixes !== undefined),
    );
    const key = form && JSON.stringify(form.edits);
    // All lines of a block may have the same fix.
    if (!form || !key || taken.has(key)) continue;
    taken.add(key);
    chosen.set(first, form);
    for (const each of findings)
      if (each !== first && ENDS_LINE.test(each.code)) explained.add(each);
  }
  if (chosen.size === 0) return diagnostics;
  const changed = [...chosen.values()].flatMap(({ edits }) => edits);
  return diagnostics.flatMap((diagnostic) => {
    if (explained.has(diagnostic)) return [];
    const form = chosen.get(diagnostic);
    const { fixes, ...rest } = diagnostic;
    if (!form) return touches(fixes, changed) ? rest : diagnostic;
    const edits = form.edits.map(({ start, end, text: newText }) => ({
      range: toRange(start, Math.min(end, source.length)),
      newText,
    }));
    return { ...rest, hint: form.says, fixes: [{ title: "write it so", edits }] };
  });
}

interface ForeignForm {
  readonly says: string;
  readonly edits: readonly Edit[];
}

function touches(fixes: Diagnostic["fixes"], changed: readonly Edit[]): boolean {
  return (fixes ?? []).some(({ edits }) =>
    edits.some(({ range: { start, end } }) =>
      changed.some((edit) => edit.start <= end.offset && start.offset <= edit.end),
    ),
  );
}

function foreignForm(line: Line, text: FormText, isFixed: boolean): ForeignForm | undefined {
  if (line.isText) return undefined;
  const place = placeOf(line);
  for (const form of FORMS) {
    if (isFixed && !form.wins) continue;
    if (form.in !== undefined && !form.in.split(" ").includes(place)) continue;
    const match = form.pattern.exec(line.text);
    const written = match && form.rewrite(match, line, text);
    if (written === undefined || written === null || written === line.text) continue;
    const edits =
      typeof written === "string" ? [{ start: line.from, end: line.to, text: written }] : written;
    return { says: form.says, edits };
  }
  return undefined;
}

function formText(lines: readonly Line[], catalog: KnownCatalog): FormText {
  let ids: Set<string> | undefined;
  return {
    lines,
    fresh: new Set(),
    get ids() {
      ids ??= new Set(
        lines.flatMap(
          ({ text }) => /^(?:node|step|task)\s+"?([A-Za-z_][\w-]*)/.exec(text)?.[1] ?? [],
        ),
      );
      return ids;
    },
    isExact: (name) => catalog.types.includes(name),
    isType: (name) =>
      catalog.types.includes(name) ||
      (!isBlockKeyword(name) && meantName(name, catalog.types, TYPE_ALIASES) !== undefined),
    choices({ opener }, field) {
      const type = /:\s*"?([\w.]+)/.exec(opener?.text ?? "")?.[1] ?? "";
      const meant = catalog.types.includes(type)
        ? type
        : meantName(type, catalog.types, TYPE_ALIASES);
      const entry = meant === undefined ? undefined : catalog.entry(meant);
      const choices = own(own(own(entry?.fields, "properties"), field), "enum");
      return Array.isArray(choices) ? choices : [];
    },
  };
}
