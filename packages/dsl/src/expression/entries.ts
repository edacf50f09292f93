/** Entries of objects as written, where a key may be set twice. */
import type { ObjectExpression } from "./ast.ts";

/** Entries up to which comparing each with each beats a set. */
const FEW_ENTRIES = 8;

/** Whether some key is set twice. */
export function hasTwins(entries: ObjectExpression["entries"]): boolean {
  if (entries.length > FEW_ENTRIES) {
    return new Set(entries.map((entry) => entry.key)).size < entries.length;
  }
  for (let at = 1; at < entries.length; at += 1) {
    const key = entries[at]?.key;
    for (let before = 0; before < at; before += 1) {
      if (entries[before]?.key === key) return true;
    }
  }
  return false;
}

/** The entries of an object; of a key that is set twice the first. */
export function ownEntries(e: ObjectExpression): ObjectExpression["entries"] {
  if (!hasTwins(e.entries)) return e.entries;
  const keys = new Set(e.entries.map((entry) => entry.key));
  return e.entries.filter((entry) => keys.delete(entry.key));
}
