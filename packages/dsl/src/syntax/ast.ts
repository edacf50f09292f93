/**
 * The expression tree. Parentheses leave no trace: the printer puts back the ones that are needed. `start` and `end`
 * are UTF-16 offsets into the source that was parsed.
 */

/** Offsets into a text in UTF-16 units, `end` exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Binding strength of each binary operator; `?:` is 1, prefix operators 9, members and calls 10. */
export const PRECEDENCE = {
  "??": 2,
  "||": 3,
  "&&": 4,
  "==": 5,
  "!=": 5,
  in: 6,
  "<": 6,
  "<=": 6,
  ">": 6,
  ">=": 6,
  "+": 7,
  "-": 7,
  "*": 8,
  "/": 8,
  "%": 8,
} as const;
/** An operator between two operands. */
export type BinaryOperator = keyof typeof PRECEDENCE;

/** `null`, `true`, `false`, a number, or a string without holes. */
export interface LiteralExpression extends Span {
  readonly kind: "literal";
  readonly value: null | boolean | number | string;
}
/** A number with a unit, such as `90s`; its value is a whole number of milliseconds. */
export interface DurationExpression extends Span {
  readonly kind: "duration";
  readonly ms: number;
}
/** A string with holes; parts alternate freely, no empty strings, no two strings in a row. */
export interface TemplateExpression extends Span {
  readonly kind: "template";
  readonly parts: readonly (string | Expression)[];
}
/** `[a, b]`. */
export interface ListExpression extends Span {
  readonly kind: "list";
  readonly elements: readonly Expression[];
}
/** `{ key: value }`, with its keys in the order of the text. */
export interface ObjectExpression extends Span {
  readonly kind: "object";
  readonly entries: readonly { readonly key: string; readonly value: Expression }[];
}
/** A root name: a local, a node, `inputs`, `nodes` or `run`. */
export interface NameExpression extends Span {
  readonly kind: "name";
  readonly name: string;
}
/** `object.name` or `object?.name`. */
export interface MemberExpression extends Span {
  readonly kind: "member";
  readonly object: Expression;
  readonly name: string;
  readonly optional: boolean;
}
/** `object[index]`: an element of a list, or a member whose name is computed. */
export interface IndexExpression extends Span {
  readonly kind: "index";
  readonly object: Expression;
  readonly index: Expression;
}
/** A call of a built-in function or macro; there are no others. */
export interface CallExpression extends Span {
  readonly kind: "call";
  readonly name: string;
  readonly args: readonly Expression[];
}
/** `!operand` or `-operand`. */
export interface UnaryExpression extends Span {
  readonly kind: "unary";
  readonly op: "!" | "-";
  readonly operand: Expression;
}
/** `left op right`. */
export interface BinaryExpression extends Span {
  readonly kind: "binary";
  readonly op: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
}
/** `test ? then : otherwise`. */
export interface ConditionalExpression extends Span {
  readonly kind: "conditional";
  readonly test: Expression;
  readonly then: Expression;
  readonly otherwise: Expression;
}

/** One node of an expression tree, told apart by `kind`. */
export type Expression =
  | LiteralExpression
  | DurationExpression
  | TemplateExpression
  | ListExpression
  | ObjectExpression
  | NameExpression
  | MemberExpression
  | IndexExpression
  | CallExpression
  | UnaryExpression
  | BinaryExpression
  | ConditionalExpression;

/** Height of one expression tree: `a + b + …`, `a.b.c…`. Every walk over a tree may recurse this deep and no deeper. */
export const MAX_EXPRESSION_HEIGHT = 1000;

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

/** The expressions that stand directly in another one, in order. */
export function childrenOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case "template":
      return node.parts.filter((part): part is Expression => typeof part !== "string");
    case "list":
      return node.elements;
    case "object":
      return node.entries.map(({ value }) => value);
    case "member":
      return [node.object];
    case "index":
      return [node.object, node.index];
    case "call":
      return node.args;
    case "unary":
      return [node.operand];
    case "binary":
      return [node.left, node.right];
    case "conditional":
      return [node.test, node.then, node.otherwise];
    default:
      return [];
  }
}
