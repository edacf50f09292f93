/** Values of attributes that are there already. */

import { mergeValue } from "../../edit/merge-values.ts";
import type { AttrItem, BlockItem, Item } from "../../language/items.ts";
import { readWholeInSteps } from "../../read/locate.ts";
import { resultOf } from "../../steps.ts";
import type { Comment } from "../../syntax/notes.ts";
import { printValue, Writer } from "../../write/print-value.ts";
import type { TextEdit } from "../types.ts";
import type { Lines } from "./lines.ts";
import { type Holder, insertion } from "./place-item.ts";

/** The attributes of a name; of several only the first counts. */
export function attributesOf(
  items: readonly Item[],
  name: string,
  policy: boolean,
): readonly AttrItem[] {
  return items.filter(
    (item): item is AttrItem =>
      item.kind === "attr" && item.name === name && item.policy === policy,
  );
}

/** The edits that give an attribute its value: in place, or as a new item of the holder. */
export function setAttribute(lines: Lines, holder: Holder, fresh: AttrItem): readonly TextEdit[] {
  const [old] = attributesOf(holder.items, fresh.name, fresh.policy);
  return old ? replaced(lines, old, fresh) : insertion(lines, holder, fresh);
}

/** Replaces the changed parts; comments of unchanged parts, and those between the parts of an expression, are kept. */
function replaced(lines: Lines, old: AttrItem, fresh: AttrItem): readonly TextEdit[] {
  const value = mergeValue(old.value, fresh.value);
  if (value === old.value) return [];
  const writer = new Writer();
  printValue(writer, value, 0);
  const indent = lines.indent(old.start);
  const text = ` = ${lines.laidOut(writer.text, indent, false)}`;
  const edits: TextEdit[] = [{ from: old.nameEnd, to: old.end, text }];
  const comments = hoisted(lines.text.slice(old.start, old.end));
  if (comments.length > 0) {
    const above = comments.map((comment) => `#${comment.text}${lines.lineBreak}${indent}`);
    edits.unshift({ from: old.start, to: old.start, text: above.join("") });
  }
  return edits;
}

/** Comments inside an attribute that stand in no list or object: reading puts them above it. */
function hoisted(attribute: string): readonly Comment[] {
  const { items } = resultOf(readWholeInSteps(`flow 1 f\n\nnode n: t {\n  ${attribute}\n}\n`));
  const node = items[1] as BlockItem | undefined;
  return node?.items?.[0]?.lead ?? [];
}
