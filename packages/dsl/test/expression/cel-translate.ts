/**
 * Common Expression Language in the words of ours: `x.size()` becomes `size(x)`, `3u` becomes `3`, `has(m.k)` becomes
 * `"k" in m`. What has no words here is `Foreign`, with the reason.
 */
import { parse } from "@bufbuild/cel";
import type { Expr, ParsedExpr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import type { Expression } from "@millrace/dsl";

/** A case that our language cannot say, and why. */
export class Foreign extends Error {}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Call = Extract<Expr["exprKind"], { case: "callExpr" }>["value"];

const AT = { start: 0, end: 0 };
const KINDS: { readonly [type: string]: string } = {
  bool: "bool",
  double: "number",
  int: "number",
  uint: "number",
  list: "list",
  map: "object",
  null_type: "null",
  string: "string",
};
const BINARY = ["||", "&&", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"] as const;
/** Functions that mean the same, by name and number of arguments; the target is the first. */
const SAME: { readonly [call: string]: string } = {
  "size/1": "size",
  "startsWith/2": "startsWith",
  "endsWith/2": "endsWith",
  "contains/2": "contains",
  "string/1": "string",
  "double/1": "number",
  "int/1": "int",
  "uint/1": "int",
  "bool/1": "bool",
  "type/1": "type",
  "split/2": "split",
  "join/2": "join",
  "replace/3": "replace",
  "substring/2": "substring",
  "substring/3": "substring",
  "trim/1": "trim",
  "lowerAscii/1": "lower",
  "upperAscii/1": "upper",
  "math.ceil/1": "ceil",
  "math.floor/1": "floor",
  "math.round/1": "round",
  "math.trunc/1": "int",
  "math.abs/1": "abs",
  "timestamp/1": "date",
};
const MACROS = ["all", "exists", "filter", "map"];

/** The tree of a CEL source in our language. Throws `Foreign`. */
export function translate(source: string): Expression {
  const parsed = parsedOrForeign(source);
  return new Translation(parsed).of(parsed.expr as Expr);
}

function parsedOrForeign(source: string): ParsedExpr {
  try {
    return parse(source);
  } catch {
    throw new Foreign("syntax that even a CEL parser refuses");
  }
}

/** A value of a case as JSON. Throws `Foreign`. */
export function toData(value: object): Json {
  const [[kind, of] = ["boolValue", true]] = Object.entries(value);
  switch (kind) {
    case "nullValue":
      return null;
    case "boolValue":
    case "stringValue":
      return of as Json;
    case "int64Value":
    case "uint64Value":
      return exact(Number(of));
    case "doubleValue":
      if (typeof of === "number") return of + 0;
      throw new Foreign("numbers that are not finite are errors");
    case "typeValue":
      return KINDS[of as string] ?? foreign("types that only CEL has");
    case "listValue":
      return ((of as { values?: [] }).values ?? []).map(toData);
    case "mapValue": {
      const { entries = [] } = of as { entries?: { key: object; value: object }[] };
      return Object.fromEntries(
        entries.map((each) => [key(toData(each.key as never)), toData(each.value as never)]),
      );
    }
    case "bytesValue":
      return foreign("bytes");
    default:
      return foreign("messages of Protocol Buffers");
  }
}

function exact(value: number): number {
  return Number.isSafeInteger(value) ? value : foreign("integers beyond 2^53");
}

function key(value: Json): string {
  return typeof value === "string" ? value : foreign("keys that are no text");
}

function foreign(reason: string): never {
  throw new Foreign(reason);
}

class Translation {
  readonly #macros: ParsedExpr["sourceInfo"];

  constructor(parsed: ParsedExpr) {
    this.#macros = parsed.sourceInfo;
  }

  of(expr: Expr): Expression {
    const { exprKind } = expr;
    switch (exprKind.case) {
      case "constExpr": {
        const { case: kind, value } = exprKind.value.constantKind;
        if (kind === "nullValue") return literal(null);
        if (kind === "doubleValue" && !Number.isFinite(value))
          return foreign("numbers that are not finite are errors");
        return literal(toData({ [kind as string]: kind?.includes("64") ? String(value) : value }));
      }
      case "identExpr": {
        const { name } = exprKind.value;
        if (name.startsWith(".") || name.includes("@")) return foreign("names of namespaces");
        const type = KINDS[name];
        return type === undefined ? { kind: "name", name, ...AT } : literal(type);
      }
      case "selectExpr": {
        const { operand, field, testOnly } = exprKind.value;
        const object = this.of(operand as Expr);
        if (testOnly)
          return { kind: "binary", op: "in", left: literal(field), right: object, ...AT };
        return { kind: "member", object, name: field, optional: false, ...AT };
      }
      case "listExpr": {
        const { elements, optionalIndices } = exprKind.value;
        if (optionalIndices.length > 0) return foreign("optional values");
        return { kind: "list", elements: elements.map((each) => this.of(each)), ...AT };
      }
      case "structExpr":
        return this.#object(exprKind.value);
      case "callExpr":
        return this.#call(exprKind.value);
      default:
        return this.#macro(expr);
    }
  }

  #object({
    messageName,
    entries,
  }: Extract<Expr["exprKind"], { case: "structExpr" }>["value"]): Expression {
    if (messageName !== "") return foreign("messages of Protocol Buffers");
    const members = entries.map(({ keyKind, value, optionalEntry }) => {
      if (optionalEntry) foreign("optional values");
      const name =
        keyKind.case === "mapKey" ? this.of(keyKind.value) : foreign("keys that are no text");
      return {
        key: key(name.kind === "literal" ? name.value : null),
        value: this.of(value as Expr),
      };
    });
    if (new Set(members.map((each) => each.key)).size < members.length)
      foreign("a key twice is no syntax");
    return { kind: "object", entries: members, ...AT };
  }

  #macro(expr: Expr): Expression {
    const written = this.#macros?.macroCalls[String(expr.id)]?.exprKind;
    if (written?.case !== "callExpr") return foreign("macros that only CEL has");
    const { target, function: name, args } = written.value;
    if (!MACROS.includes(name)) return foreign("macros that only CEL has");
    const [variable, ...bodies] = args.map((each) => this.of(each));
    const [body, then] = bodies;
    const list = this.of(target as Expr);
    if (variable?.kind !== "name" || body === undefined) return foreign("macros of two variables");
    const macro = (of: string, over: Expression, each: Expression): Expression => ({
      kind: "call",
      name: of,
      args: [over, variable, each],
      ...AT,
    });
    if (then === undefined) return macro(name, list, body);
    if (name !== "map") return foreign("macros of two variables");
    return macro("map", macro("filter", list, body), then);
  }

  #call({ function: name, target, args }: Call): Expression {
    const plain = name.replace(/^@?_?|_$/g, "");
    const namespace = target?.exprKind.case === "identExpr" ? target.exprKind.value.name : "";
    const spaced = ["math", "strings", "base64", "cel", "optional", "proto"].includes(namespace);
    const parts = [...(target === undefined || spaced ? [] : [target]), ...args];
    const op = BINARY.find((each) => name === `_${each}_`);
    if (name === "dyn" && parts.length === 1) return this.of(parts[0] as Expr);
    if (name === "duration") return foreign("durations are numbers");
    const of = parts.map((part) => this.of(part));
    const [a, b, c] = of as [Expression, Expression, Expression];
    if (op !== undefined) return { kind: "binary", op, left: a, right: b, ...AT };
    if (name === "@in") return { kind: "binary", op: "in", left: a, right: b, ...AT };
    if (name === "!_") return { kind: "unary", op: "!", operand: a, ...AT };
    if (name === "-_") return { kind: "unary", op: "-", operand: a, ...AT };
    if (name === "_?_:_") {
      const [test, then, otherwise] = [a, b, c];
      return { kind: "conditional", test, then, otherwise, ...AT };
    }
    if (name === "_[_]") return { kind: "index", object: a, index: b, ...AT };
    if (name.includes("?")) return foreign("optional values");
    if (name === "charAt" && of.length === 2) {
      const next: Expression = { kind: "binary", op: "+", left: b, right: literal(1), ...AT };
      return { kind: "call", name: "substring", args: [a, b, next], ...AT };
    }
    const full = spaced ? `${namespace}.${plain}` : plain;
    if (full === "math.greatest" || full === "math.least") {
      return { kind: "call", name: full === "math.least" ? "min" : "max", args: of, ...AT };
    }
    const same = SAME[`${full}/${of.length}`];
    if (same === undefined) return foreign("functions that only CEL has");
    return { kind: "call", name: same, args: of, ...AT };
  }
}

function literal(value: Json): Expression {
  return { kind: "literal", value: value as null | boolean | number | string, ...AT };
}
