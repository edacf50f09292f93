/** Mark on the box of a node, by the kind of work of its type. */

/** A kind of work. */
export type Mark = "ai" | "person" | "control" | "network" | "machine" | "plain";

const MARKS: readonly (readonly [RegExp, Mark])[] = [
  [/^(ai$|ai\.)/, "ai"],
  [/^(confirm)$/, "person"],
  [/^(condition|switch|join|map|loop|subflow|delay|fail)$/, "control"],
  [/^(http|service)\./, "network"],
  [/^(file|shell)\./, "machine"],
];

/** The mark of a type of node; `plain` for a type of no other kind. */
export function markOf(type: string): Mark {
  return MARKS.find(([pattern]) => pattern.test(type))?.[1] ?? "plain";
}
