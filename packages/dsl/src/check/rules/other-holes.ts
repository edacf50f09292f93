/** Holes as other tools write them, `{{ x }}`, `{x}`, `$x`, which are plain text here (FLOW5012). */

import { aliasOf, NAME_HINTS } from "../../diagnostics/aliases.ts";
import { replacing } from "../../diagnostics/bag.ts";
import { shown } from "../../diagnostics/quote.ts";
import type { Expression, Span } from "../../syntax/ast.ts";
import { parseExpression } from "../../syntax/parse-expression.ts";
import { printExpression } from "../../syntax/print-expression.ts";
import { findTypes } from "../../types/infer.ts";
import { isHinted } from "../model/deferred.ts";
import { readsOf } from "../model/resolve.ts";
import type { Site } from "../model/sites.ts";
import { pointerTo, type ValuePath } from "../model/walk-value.ts";
import type { Validation } from "../validation.ts";
import type { Types } from "./types.ts";

/**
 * `{{ expression }}`; `{name.member}` and `$name.member`, which need a member, because `{id}` and `$id` stand in texts for
 * shells and routers. A `$` in front of a brace is an escaped hole of this language.
 */
const HOLES =
  /\{\{([^{}\n]{1,200})\}\}|#\{([^{}\n]{1,200})\}|(?<![${#])\{([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)\}(?!\})|\$([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)/g;

/** Holes of one text that are looked at; a text with more is a template for another tool. */
const MAX_HOLES = 20;

/** Warns of each part of a text that reads like a hole and names something that is known here or in another tool. */
export function checkOtherHoles(
  ctx: Validation,
  types: Types,
  site: Site,
  text: string,
  path: ValuePath | undefined,
): void {
  if (!text.includes("{{") && !text.includes(".")) return;
  const pointer = pointerTo(site.pointer, path);
  const whole = ctx.map.around(pointer);
  let from = 0;
  let count = 0;
  for (const [found, ...inner] of text.matchAll(HOLES)) {
    count += 1;
    if (count > MAX_HOLES) return;
    const meant = meantBy(inner.find((group) => group !== undefined) ?? "", types, site);
    const wide = inner[0] ?? inner[1];
    const hint = meant === undefined && wide !== undefined ? foreign(wide) : undefined;
    if (meant === undefined && hint === undefined) continue;
    const isSafe = meant !== undefined && isRight(meant.ast, types, site);
    if (wide === undefined && !isSafe) continue;
    const span = whole && placeOf(found, ctx, whole, from);
    if (span !== undefined && whole !== undefined) from = span.end - whole.start;
    const hole = meant === undefined ? "" : `\${${printExpression(meant.ast)}}`;
    const takesFix = isSafe && meant.isWhole && !isHinted(site.schemas, "literal");
    ctx.report("FLOW5012", pointer, {
      parts: { found: shown(found), hole: shown(hole) },
      hint,
      span,
      fix: takesFix ? replacing(`write ${shown(hole)}`, span, hole) : undefined,
    });
  }
}

/** The meaning of a hole: an expression, an input without `inputs.`, or one of both in front of a filter such as `| upper`. */
function meantBy(
  source: string,
  types: Types,
  site: Site,
): { readonly ast: Expression; readonly isWhole: boolean } | undefined {
  const filter = source.search(/[^|]\|(?:[^|]|$)/);
  const isWhole = filter === -1;
  const plain = (isWhole ? source : source.slice(0, filter + 1)).trim();
  const { ast } = parseExpression(plain);
  if (ast === undefined) return undefined;
  if (readsKnown(ast, site)) return { ast, isWhole };
  if (!/^[A-Za-z_]/.test(plain)) return undefined;
  const input = parseExpression(`inputs.${plain}`).ast;
  const isInput = input !== undefined && readsKnown(input, site) && isRight(input, types, site);
  return isInput ? { ast: input, isWhole } : undefined;
}

/** The expression for a member of a root of another tool, such as `$json.name`. */
function foreign(source: string): string | undefined {
  const root = /^\s*\$?([A-Za-z_]\w*)\s*[.[(]/.exec(source)?.[1];
  return root === undefined ? undefined : aliasOf(root, NAME_HINTS);
}

function readsKnown(ast: Expression, { body, roots }: Site): boolean {
  const reads = readsOf(ast, body, roots);
  return reads.length > 0 && reads.every(({ kind }) => kind !== "unknown");
}

/** Whether the expression could stand there as it is. */
function isRight(ast: Expression, types: Types, { body, roots }: Site): boolean {
  return findTypes(ast, types.env(body, roots)).findings.every(({ code }) => code === "FLOW5006");
}

function placeOf(found: string, ctx: Validation, whole: Span, from: number): Span | undefined {
  const at = ctx.map.text(whole).indexOf(found, from);
  return at === -1 ? undefined : { start: whole.start + at, end: whole.start + at + found.length };
}
