/** Random expressions, and random data for the names that they read. */
import type { Expression } from "@millrace/dsl";
import fc from "fast-check";

const AT = { start: 0, end: 0 };
const NAMES = ["a", "b", "l", "o", "s", "x", "y", "unknown"];
const KEYS = ["a", "b", "key", "value", "constructor", "__proto__"];
const TEXTS = [
  ...["", "a", "ab", "é", "\u{1f600}", "\uffff", "1", "1.5", "1e999", "true", "-0", "01", "a,b"],
  "\ud83d",
];
const NUMBERS = [0, 1, 2, -1, 0.5, 1.5, 10, 1e308, -1e308, 1e21, 1e-7, 10_001];
const FUNCTIONS: readonly (readonly [name: string, least: number, most: number])[] = [
  ..."size string number int bool type json lower upper trim sum floor ceil abs first last reverse flatten unique keys values entries fromEntries"
    .split(" ")
    .map((name) => [name, 1, 1] as const),
  ..."take chunk indexOf split join contains startsWith endsWith"
    .split(" ")
    .map((name) => [name, 2, 2] as const),
  ["replace", 3, 3],
  ["substring", 2, 3],
  ...[["range", 1, 2] as const, ["slice", 2, 3] as const, ["zip", 2, 3] as const],
  ...["min", "max", "merge"].map((name) => [name, 1, 3] as const),
];
export const MACROS: readonly string[] = "map filter all exists sortBy groupBy countBy".split(" ");
const BINARY = "?? || && == != in < <= > >= + - * / %".split(" ") as readonly (Expression & {
  readonly kind: "binary";
})["op"][];

/** At most three members, each of another name. */
const entriesOf = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<[string, T][]> =>
  fc.uniqueArray(fc.tuple(fc.constantFrom(...KEYS), value), {
    maxLength: 3,
    selector: ([key]) => key,
  });

/** Trees of every kind of expression; most of them fail when they are evaluated. */
export const trees: fc.Arbitrary<Expression> = fc.letrec<{ node: Expression }>((tie) => {
  const node = tie("node");
  const literal = fc
    .oneof(
      fc.constantFrom(...TEXTS),
      fc.constantFrom(...NUMBERS),
      fc.constantFrom(null, true, false),
    )
    .map((value): Expression => ({ kind: "literal", value, ...AT }));
  const name = fc
    .constantFrom(...NAMES)
    .map((it): Expression => ({ kind: "name", name: it, ...AT }));
  return {
    node: fc.oneof(
      { maxDepth: 5, depthSize: "small" },
      literal,
      name,
      fc.tuple(node, fc.constantFrom(...KEYS), fc.boolean()).map(
        ([object, name, optional]): Expression => ({
          kind: "member",
          object,
          name,
          optional,
          ...AT,
        }),
      ),
      fc
        .tuple(node, node)
        .map(([object, index]): Expression => ({ kind: "index", object, index, ...AT })),
      fc
        .array(node, { maxLength: 3 })
        .map((elements): Expression => ({ kind: "list", elements, ...AT })),
      entriesOf(node).map((pairs): Expression => {
        const entries = pairs.map(([key, value]) => ({ key, value }));
        return { kind: "object", entries, ...AT };
      }),
      fc
        .tuple(fc.constantFrom(...TEXTS.slice(1)), node)
        .map(([text, part]): Expression => ({ kind: "template", parts: [text, part], ...AT })),
      fc
        .tuple(fc.constantFrom("!", "-"), node)
        .map(([op, operand]): Expression => ({ kind: "unary", op: op as "!", operand, ...AT })),
      fc
        .tuple(fc.constantFrom(...BINARY), node, node)
        .map(([op, left, right]): Expression => ({ kind: "binary", op, left, right, ...AT })),
      fc.tuple(node, node, node).map(
        ([test, then, otherwise]): Expression => ({
          ...{ kind: "conditional", test, then, otherwise, ...AT },
        }),
      ),
      fc
        .tuple(
          fc.constantFrom(...FUNCTIONS),
          fc.array(node, { minLength: 3, maxLength: 3 }),
          fc.nat(2),
        )
        .map(
          ([[name, least, most], args, extra]): Expression => ({
            kind: "call",
            name,
            args: args.slice(0, Math.min(most, least + extra)),
            ...AT,
          }),
        ),
      fc.tuple(fc.constantFrom(...MACROS), node, fc.constantFrom("x", "y"), node).map(
        ([name, list, variable, body]): Expression => ({
          kind: "call",
          name,
          args: [list, { kind: "name", name: variable, ...AT }, body],
          ...AT,
        }),
      ),
    ),
  };
}).node;

const data = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(null, true, false, ...TEXTS, ...NUMBERS),
    fc.array(tie("value"), { maxLength: 4 }),
    entriesOf(tie("value")).map((entries) => Object.fromEntries(entries)),
  ),
})).value;
/** Values of the names. */
export const scopes: fc.Arbitrary<{ readonly [name: string]: unknown }> = fc.record({
  a: data,
  b: data,
  l: fc.array(data, { maxLength: 4 }),
  o: fc.record({ a: data, b: data }),
  s: fc.constantFrom(...TEXTS),
});
