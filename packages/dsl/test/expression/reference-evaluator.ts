/**
 * The language a second time, for fuzzing: a plain walk over the tree, slow and without a budget, written from the rules
 * and sharing no code with the real one. Time and byte functions are left out; they are compared with the platform.
 */
import type { Expression } from "@millrace/dsl";

type Value = null | boolean | number | string | Value[] | { [key: string]: Value };
export type Variables = ReadonlyMap<string, Value>;

/** A failure with the code that the real evaluator must give too. */
export class Failure extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

const SHORT = Symbol("the rest of the chain is null");

let visits = 0;

/** How many nodes of a tree its evaluation visits. */
export function visitedNodes(node: Expression, names: Variables): number {
  visits = 0;
  referenceEvaluate(node, names);
  return visits;
}

export function referenceEvaluate(node: Expression, names: Variables): Value {
  const value = walk(node, names);
  return value === SHORT ? null : value;
}

function walk(node: Expression, names: Variables): Value | typeof SHORT {
  visits += 1;
  const of = (part: Expression): Value => referenceEvaluate(part, names);
  switch (node.kind) {
    case "literal":
      return node.value;
    case "duration":
      return node.ms;
    case "template":
      return node.parts.map((part) => (typeof part === "string" ? part : text(of(part)))).join("");
    case "list":
      return node.elements.map(of);
    case "object":
      return objectFrom(node.entries.map(({ key, value }) => [key, of(value)]));
    case "name":
      if (!names.has(node.name)) throw new Failure("unknown_name");
      return names.get(node.name) as Value;
    case "member":
    case "index": {
      const object = walk(node.object, names);
      if (object === SHORT) return SHORT;
      if (object === null) {
        if (node.kind === "member" && node.optional) return SHORT;
        throw new Failure("null_access");
      }
      const key = node.kind === "member" ? node.name : of(node.index);
      if (Array.isArray(object) && typeof key === "number" && node.kind === "index") {
        if (key < 0 || key % 1 !== 0) throw new Failure("type_mismatch");
        return object[key] ?? null;
      }
      if (kind(object) !== "object" || typeof key !== "string") throw new Failure("type_mismatch");
      return new Map(Object.entries(object)).get(key) ?? null;
    }
    case "unary": {
      const value = of(node.operand);
      if (node.op === "!") return !need(value, "bool");
      return unsigned(-(need(value, "number") as number));
    }
    case "binary":
      return binary(node.op, node.left, node.right, of);
    case "conditional":
      return need(of(node.test), "bool") ? of(node.then) : of(node.otherwise);
    case "call":
      return call(node.name, node.args, names, of);
  }
}

function binary(
  op: string,
  left: Expression,
  right: Expression,
  of: (node: Expression) => Value,
): Value {
  if (op === "??") return of(left) ?? of(right);
  if (op === "&&") return (need(of(left), "bool") && need(of(right), "bool")) as boolean;
  if (op === "||") return (need(of(left), "bool") || need(of(right), "bool")) as boolean;
  const a = of(left);
  const b = of(right);
  if (op === "==") return same(a, b);
  if (op === "!=") return !same(a, b);
  if (op === "in") {
    if (Array.isArray(b)) return b.some((element) => same(element, a));
    if (kind(b) !== "object" || typeof a !== "string") throw new Failure("type_mismatch");
    return Object.keys(b as object).includes(a);
  }
  const kinds = `${kind(a)} ${kind(b)}`;
  if (op === "+" && kinds === "string string") return `${a}${b}`;
  if (op === "+" && kinds === "list list") return (a as Value[]).concat(b as Value[]);
  if (["<", "<=", ">", ">="].includes(op)) {
    if (kinds !== "number number" && kinds !== "string string") throw new Failure("type_mismatch");
    const order = compare(a, b);
    return op === "<" ? order < 0 : op === "<=" ? order <= 0 : op === ">" ? order > 0 : order >= 0;
  }
  if (kinds !== "number number") throw new Failure("type_mismatch");
  const [x, y] = [a as number, b as number];
  if ((op === "/" || op === "%") && y === 0) throw new Failure("division_by_zero");
  const results: Record<string, number> = {
    "+": x + y,
    "-": x - y,
    "*": x * y,
    "/": x / y,
    "%": x % y,
  };
  return unsigned(results[op] as number);
}

function call(
  name: string,
  args: readonly Expression[],
  names: Variables,
  of: (node: Expression) => Value,
): Value {
  const [first, second, third] = args as [Expression, Expression, Expression];
  if (["map", "filter", "all", "exists", "sortBy", "groupBy", "countBy"].includes(name)) {
    const list = need(of(first), "list") as Value[];
    const variable = (second as { name: string }).name;
    const each = (x: Value): Value => referenceEvaluate(third, new Map([...names, [variable, x]]));
    return macro(name, list, each);
  }
  const spec = FUNCTIONS[name];
  if (spec === undefined) throw new Failure("syntax");
  const [takes, run] = spec;
  const values = args.map((argument, i) => {
    const value = of(argument);
    const types = takes[Math.min(i, takes.length - 1)] as string;
    if (
      types === "int"
        ? !Number.isInteger(value)
        : types !== "any" && !types.split(" ").includes(kind(value))
    ) {
      throw new Failure("type_mismatch");
    }
    return value;
  });
  return run(...(values as never[]));
}

function macro(name: string, list: Value[], each: (x: Value) => Value): Value {
  if (name === "map") return list.map(each);
  if (name === "filter") return list.filter((x) => need(each(x), "bool"));
  if (name === "all") return list.every((x) => need(each(x), "bool"));
  if (name === "exists") return list.some((x) => need(each(x), "bool"));
  const keyed = list.map((x) => [each(x), x] as [Value, Value]);
  if (name !== "sortBy") {
    const keys = new Set(keyed.map(([key]) => need(key, "string") as string));
    const of = (name: string): Value[] => keyed.filter(([key]) => key === name).map(([, x]) => x);
    return objectFrom([...keys].map((key) => [key, name === "groupBy" ? of(key) : of(key).length]));
  }
  const kinds = new Set(keyed.map(([key]) => kind(key)));
  kinds.delete("null");
  if (kinds.size > 1 || kinds.has("list") || kinds.has("object"))
    throw new Failure("type_mismatch");
  const sorted: [Value, Value][] = [];
  for (const pair of keyed) {
    let at = sorted.length;
    while (at > 0 && after((sorted[at - 1] as [Value, Value])[0], pair[0])) at -= 1;
    sorted.splice(at, 0, pair);
  }
  return sorted.map(([, x]) => x);
}

function after(a: Value, b: Value): boolean {
  if (b === null) return false;
  return a === null || compare(a, b) > 0;
}

const numbers = (list: Value[]): number[] => list.map((x) => need(x, "number") as number);
const extreme =
  (pick: (...all: number[]) => number) =>
  (...args: Value[]): Value => {
    const list = numbers(args.length === 1 && Array.isArray(args[0]) ? args[0] : args);
    return list.length === 0 ? null : pick(...list);
  };
const points = (s: string): string[] => [...s];

// biome-ignore-start lint/suspicious/noExplicitAny: each function has the types that its list names
const FUNCTIONS: Record<
  string,
  readonly [takes: readonly string[], run: (...args: any[]) => Value]
> = {
  size: [
    ["string list object"],
    (x) => (typeof x === "string" ? points(x).length : Object.keys(x).length),
  ],
  string: [["any"], text],
  number: [["string number bool"], toNumber],
  int: [["string number"], (x) => unsigned(Math.trunc(toNumber(x)))],
  bool: [
    ["string bool"],
    (x) => {
      if (x === true || x === "true") return true;
      if (x === false || x === "false") return false;
      throw new Failure("bad_argument");
    },
  ],
  type: [["any"], kind],
  json: [["any"], (x) => JSON.stringify(x)],
  lower: [["string"], (s) => s.toLowerCase()],
  upper: [["string"], (s) => s.toUpperCase()],
  trim: [["string"], (s) => s.trim()],
  split: [["string", "string"], (s, by) => (by === "" ? points(s) : s.split(by))],
  join: [["list", "string"], (l, by) => l.map((s: Value) => need(s, "string")).join(by)],
  contains: [
    ["string list", "any"],
    (whole, part) =>
      Array.isArray(whole)
        ? whole.some((x) => same(x, part))
        : whole.split(need(part, "string")).length > 1 || part === "",
  ],
  indexOf: [
    ["string list", "any"],
    (whole, part) => {
      if (Array.isArray(whole)) return whole.findIndex((x) => same(x, part));
      const [before = "", ...rest] = whole.split(need(part, "string"));
      return part === "" ? 0 : rest.length === 0 ? -1 : points(before).length;
    },
  ],
  startsWith: [["string", "string"], (s, part) => s.slice(0, part.length) === part],
  endsWith: [["string", "string"], (s, part) => part === "" || s.slice(-part.length) === part],
  replace: [
    ["string", "string", "string"],
    (s, from, to) => (from === "" ? ["", ...points(s), ""].join(to) : s.split(from).join(to)),
  ],
  substring: [
    ["string", "int", "int"],
    (s, from, to = Number.POSITIVE_INFINITY) =>
      points(s)
        .filter((_, i) => i >= from && i < to)
        .join(""),
  ],
  min: [["number list"], extreme(Math.min)],
  max: [["number list"], extreme(Math.max)],
  sum: [["list"], (l) => unsigned(numbers(l).reduce((a, b) => a + b, 0))],
  floor: [["number"], (n) => unsigned(Math.floor(n))],
  ceil: [["number"], (n) => unsigned(Math.ceil(n))],
  abs: [["number"], (n) => (n < 0 ? -n : n)],
  first: [["list"], (l) => l.at(0) ?? null],
  last: [["list"], (l) => l.at(-1) ?? null],
  slice: [
    ["string list", "int", "int"],
    (whole, from, to) =>
      typeof whole === "string"
        ? points(whole).slice(from, to).join("")
        : (whole as Value[]).slice(from, to),
  ],
  take: [
    ["string list", "int"],
    (whole, n) => {
      const all: Value[] = typeof whole === "string" ? points(whole) : whole;
      const part = all.filter((_, i) => (n < 0 ? i >= all.length + n : i < n));
      return typeof whole === "string" ? part.join("") : part;
    },
  ],
  reverse: [
    ["string list"],
    (whole) =>
      typeof whole === "string"
        ? points(whole).reduce((after, c) => c + after, "")
        : whole.map((_: Value, i: number) => whole.at(-1 - i)),
  ],
  chunk: [
    ["list", "int"],
    (l, n) => {
      if (n < 1) throw new Failure("bad_argument");
      return l.flatMap((_: Value, i: number) => (i % n === 0 ? [l.slice(i, i + n)] : []));
    },
  ],
  zip: [
    ["list", "list"],
    (a, ...others) =>
      a.flatMap((x: Value, i: number) =>
        others.every((l) => i < l.length) ? [[x, ...others.map((l) => l[i])]] : [],
      ),
  ],
  flatten: [["list"], (l) => [].concat(...l)],
  unique: [
    ["list"],
    (l) => l.filter((x: Value, i: number) => l.findIndex((y: Value) => same(x, y)) === i),
  ],
  range: [
    ["int", "int"],
    (a, b) => {
      const [from, to] = b === undefined ? [0, a] : [a, b];
      if (to - from > 10_000) throw new Failure("budget_exceeded");
      const length = Math.max(0, to - from);
      if (![from, from + length].every(Number.isSafeInteger)) throw new Failure("number_range");
      return Array.from({ length }, (_, i) => from + i);
    },
  ],
  keys: [["object"], (o) => Object.keys(o)],
  values: [["object"], (o) => Object.values(o)],
  entries: [["object"], (o) => Object.entries(o).map(([key, value]) => ({ key, value }) as Value)],
  fromEntries: [
    ["list"],
    (l) =>
      objectFrom(
        l.map((entry: { key?: Value; value?: Value } | null) => {
          const own = new Map(
            kind(entry as Value) === "object" ? Object.entries(entry as object) : [],
          );
          return [need(own.get("key") ?? null, "string"), own.get("value") ?? null] as [
            string,
            Value,
          ];
        }),
      ),
  ],
  merge: [
    ["object"],
    (...all) => objectFrom(all.flatMap((o) => Object.entries(o) as [string, Value][])),
  ],
};
// biome-ignore-end lint/suspicious/noExplicitAny: the end of the table

function kind(value: Value): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function need(value: Value, wanted: string): Value {
  if (kind(value) !== wanted) throw new Failure("type_mismatch");
  return value;
}

function text(value: Value): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function toNumber(value: string | number | boolean): number {
  if (typeof value !== "string") return Number(value);
  // The numbers of JSON, but for the blanks that JSON allows around them.
  if (!/^[-0-9]/.test(value) || !/[0-9]$/.test(value)) throw new Failure("bad_argument");
  try {
    return unsigned(JSON.parse(value));
  } catch (error) {
    throw error instanceof Failure ? error : new Failure("bad_argument");
  }
}

function unsigned(value: number): number {
  if (Number.isNaN(value) || Math.abs(value) === Number.POSITIVE_INFINITY)
    throw new Failure("number_range");
  return value === 0 ? 0 : value;
}

function same(a: Value, b: Value): boolean {
  if (kind(a) !== kind(b)) return false;
  if (typeof a !== "object" || a === null) return a === b;
  const [x, y] = [Object.entries(a), new Map(Object.entries(b as object))];
  return x.length === y.size && x.every(([key, value]) => y.has(key) && same(value, y.get(key)));
}

function compare(a: Value, b: Value): number {
  if (typeof a !== "string" || typeof b !== "string") return Number(a) - Number(b);
  const [x, y] = [a, b].map((s) => points(s).map((c) => c.codePointAt(0) as number)) as [
    number[],
    number[],
  ];
  for (let i = 0; i < Math.min(x.length, y.length); i += 1) {
    if (x[i] !== y[i]) return (x[i] as number) - (y[i] as number);
  }
  return x.length - y.length;
}

function objectFrom(entries: [string, Value][]): { [key: string]: Value } {
  return Object.fromEntries(entries);
}
