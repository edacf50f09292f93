/** The first line, `flow <language version> <id>`. */

import { replacement } from "../diagnostics/bag.ts";
import { quoteForMessage } from "../diagnostics/quote.ts";
import type { BlockItem, Label } from "../language/items.ts";
import { isIdent } from "../syntax/chars.ts";
import { nameText } from "../syntax/print-expression.ts";
import type { MappingContext } from "./mapping-context.ts";

/** The language version of this package. */
const LANGUAGE_VERSION = 1;

/** The id of the flow; "" when there is none. Versions are checked here. */
export function mapHeader(context: MappingContext, item: BlockItem): string {
  const [first, second] = item.labels;
  if (!first) {
    context.report.add("FLOW2009", item.start, item.keywordEnd, {
      parts: { kind: "flow", needs: "needs a version and a name" },
    });
    return "";
  }
  context.marks?.add("/version", first.start, first.end);
  const id = nameOf(first, second);
  if (id) context.marks?.add("/id", id.start, id.end);
  checkVersion(context, item);
  if (id) return id.text;
  context.report.add("FLOW2009", item.start, item.keywordEnd, {
    parts: { kind: "flow", needs: "needs a name" },
  });
  return "";
}

/** The label that is the flow's name: the second, or the one that is no number. */
function nameOf(first: Label, second: Label | undefined): Label | undefined {
  if (second && (first.digits || !second.digits)) return second;
  return first.digits ? undefined : first;
}

function checkVersion(context: MappingContext, item: BlockItem): void {
  const [first, second] = item.labels;
  if (!first || (first.digits && first.text === String(LANGUAGE_VERSION))) return;
  const { source, report } = context;
  const found = quoteForMessage(source.slice(first.start, first.end));
  if (first.digits && /^[1-9][0-9]*$/.test(first.text)) {
    context.isNewer = true;
    report.add("FLOW0002", first.start, first.end, {
      parts: { found, supported: LANGUAGE_VERSION },
    });
    return;
  }
  const id = nameOf(first, second) ?? first;
  const text = `${LANGUAGE_VERSION} ${nameText(id.text)}`;
  const isWhole = isIdent(id.text) || source[id.start] === source[id.end - 1];
  report.add("FLOW0003", first.start, first.end, {
    parts: { found },
    fix: isWhole
      ? replacement(`write flow ${quoteForMessage(text)}`, first.start, (second ?? first).end, text)
      : undefined,
  });
}
