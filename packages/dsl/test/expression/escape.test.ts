/**
 * Routes out of the language. Every one is closed: nothing inherited is read, no function is a value, no code of the host
 * runs, nothing shared changes.
 */
import { compileExpression, compileValue, parseExpression } from "@millrace/dsl";
import { afterEach, describe, expect, test } from "vitest";
import { codeOf, evaluate, NOW, scopeOf } from "./evaluate.ts";

/** Names that lead somewhere in JavaScript. */
const REACH = (
  "constructor __proto__ prototype toString toLocaleString valueOf hasOwnProperty isPrototypeOf propertyIsEnumerable " +
  "__defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ hasOwn create assign defineProperty " +
  "getPrototypeOf setPrototypeOf freeze call apply bind arguments caller callee name length at concat push pop map " +
  "reduce charAt charCodeAt codePointAt iterator asyncIterator then catch toJSON toPrimitive species description raw " +
  "match matchAll mainModule exports module env exit constructor_ Symbol Reflect Proxy"
).split(" ");
/** Roots of the host. */
const HOST = (
  "globalThis global self window frames process require module exports import eval Function Object Array String Number " +
  "Symbol Reflect Proxy Promise Date JSON Math Buffer console fetch setTimeout WebAssembly Error undefined_ this super " +
  "new arguments with document Deno Bun __dirname __filename"
).split(" ");

const prototypes = [Object, Array, String, Number, Boolean, Function, Map, Date, RegExp, Promise];
const own = (): string =>
  prototypes.map(({ prototype }) => Reflect.ownKeys(prototype).map(String).join()).join("|");
const before = own();
afterEach(() => {
  expect(own()).toBe(before);
  expect("polluted" in {}).toBe(false);
});

describe.each(REACH)("%s", (name) => {
  const n = name;

  test("is an absent member of an object, by every route", () => {
    for (const o of [{}, { a: 1 }, Object.create(null)]) {
      expect(evaluate(`o.${n}`, { o })).toBe(null);
      expect(evaluate(`o?.${n}`, { o })).toBe(null);
      expect(evaluate(`o["${n}"]`, { o })).toBe(null);
      expect(evaluate("o[n]", { o, n })).toBe(null);
      expect(evaluate("n in o", { o, n })).toBe(false);
      expect(codeOf(`o.${n}.x`, { o })).toBe("null_access");
      expect(evaluate(`o?.${n}?.${n}`, { o })).toBe(null);
    }
    for (const made of ["{}", "merge({})", "fromEntries([])", 'parseJson("{}")', "{ a: {} }.a"]) {
      expect(evaluate(`(${made}).${n}`)).toBe(null);
      expect(evaluate(`(${made})[n]`, { n })).toBe(null);
    }
  });

  test("is no member of anything else", () => {
    for (const base of ["[]", "[1]", '""', '"a"', "1", "true", "now()", "range(2)"]) {
      expect(codeOf(`(${base}).${n}`)).toBe("type_mismatch");
      expect(codeOf(`(${base})?.${n}`)).toBe("type_mismatch");
      expect(codeOf(`(${base})[n]`, { n })).toBe("type_mismatch");
    }
    expect(codeOf(`null.${n}`)).toBe("null_access");
    expect(evaluate(`null?.${n}`)).toBe(null);
  });

  test("is no root and no node", () => {
    expect(codeOf(n)).toBe("unknown_name");
    expect(codeOf(`${n}?.x`)).toBe("unknown_name");
    for (const nodes of [{}, Object.create(null)]) {
      expect(codeOf(`nodes["${n}"]`, { nodes })).toBe("unknown_name");
      expect(codeOf(`nodes.${n}`, { nodes })).toBe("unknown_name");
      expect(codeOf("nodes[n]?.x", { nodes, n })).toBe("unknown_name");
    }
  });

  test("is no function unless the language has it, and no method", () => {
    const ours = ["map"].includes(n);
    if (!ours) expect(codeOf(`${n}()`)).toBe("syntax");
    if (!ours) expect(codeOf(`${n}("return process")`)).toBe("syntax");
    expect(codeOf(`o.${n}()`, { o: {} })).toBe("syntax");
    expect(codeOf(`o["${n}"]()`, { o: {} })).toBe("syntax");
    expect(codeOf(`"a".${n}("return process")()`)).toBe("syntax");
  });

  test("is plain data as a key, a variable and a local", () => {
    expect(evaluate(`map([1, 2], ${n}, ${n})`)).toEqual([1, 2]);
    expect(evaluate(`map([{}], ${n}, ${n}.${n})`)).toEqual([null]);
    expect(compileExpression(n, { locals: [n] }).references).toEqual([]);
    expect(evaluate(n, JSON.parse(`{ "${n}": 7 }`))).toBe(7);
    const values = [
      `{ "${n}": { polluted: 1 } }`,
      `merge({ "${n}": { polluted: 1 } })`,
      `fromEntries([{ key: "${n}", value: { polluted: 1 } }])`,
      `fromEntries(entries({ "${n}": { polluted: 1 } }))`,
      `parseJson(json({ "${n}": { polluted: 1 } }))`,
      `first(unique([{ "${n}": { polluted: 1 } }]))`,
      `merge({}, { "${n}": {} }, { "${n}": { polluted: 1 } })`,
    ];
    for (const source of values) {
      const made = evaluate(source) as object;
      expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
      expect(Object.entries(made)).toEqual([[n, { polluted: 1 }]]);
      expect(evaluate(`(${source}).${n}.polluted`)).toBe(1);
      expect(evaluate(`(${source}).polluted`)).toBe(null);
      expect(evaluate(`keys(${source})`)).toEqual([n]);
    }
    const value = compileValue(JSON.parse(`{ "${n}": { "$": "x" }, "k": { "${n}": 1 } }`));
    const made = value.evaluate(scopeOf({ x: { polluted: 1 } }), { nowEpoch: NOW }) as object;
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
    expect(Object.keys(made)).toEqual([n, "k"]);
  });
});

describe("the host", () => {
  test.each(HOST)("%s is not within reach", (name) => {
    expect(["unknown_name", "syntax"]).toContain(codeOf(name));
    expect(["unknown_name", "syntax"]).toContain(codeOf(`${name}.constructor`));
    expect(codeOf(`${name}("1")`)).toBe("syntax");
    expect(codeOf(`${name}.x("1")`)).toBe("syntax");
  });

  test.each([
    "\\u0063onstructor",
    "o.\\u0063onstructor",
    "o.\\u{63}onstructor",
    "\\x63onstructor",
    "o.c\u200donstructor",
    "o.#constructor",
    "o.@@iterator",
    "o[Symbol.iterator]()",
    "(() => 1)()",
    "x => x",
    "function() {}",
    "new Date()",
    "a = 1",
    "a += 1",
    "a++",
    "o.a = 1",
    "delete o.a",
    "typeof o",
    "void 0",
    "o, o",
    "/x/.exec",
    "...o",
    "[...o]",
    "{ ...o }",
    "{ [a]: 1 }",
    "{ get a() {} }",
    "o instanceof o",
    "o?.[a]",
    "o?.()",
    "await o",
    "yield o",
    "1n",
    "0x10",
    "1; 2",
    "o::a",
    "throw o",
    "if (true) 1",
    "@o",
    "$o",
    "o!",
  ])("%s is no expression", (source) => {
    const { ast, diagnostics } = parseExpression(source);
    const error = diagnostics.some(({ severity }) => severity === "error");
    expect({ source, error, ast: ast === undefined }).toEqual({ source, error: true, ast: true });
    expect(codeOf(source, { o: {} })).toBe("syntax");
  });

  test("words of JavaScript are names and functions that are not there", () => {
    for (const source of ["new.target", "import.meta", "this.constructor.constructor"]) {
      expect(codeOf(source)).toBe("unknown_name");
    }
    for (const source of ["import('fs')", "eval('1')", "require('fs')", "super('x')"]) {
      expect(codeOf(source)).toBe("syntax");
    }
  });

  test("an escape in a text is read once, and then it is a key like any other", () => {
    expect(evaluate('o["\\u0063onstructor"]', { o: {} })).toBe(null);
    expect(evaluate('o["\\u005f_proto__"]', { o: {} })).toBe(null);
    expect(evaluate('o["__" + "proto__"]', { o: {} })).toBe(null);
    expect(evaluate('o[join(["con", "structor"], "")]', { o: {} })).toBe(null);
    expect(codeOf('"${constructor}"')).toBe("unknown_name");
    expect(["unknown_name", "syntax"]).toContain(codeOf("`${process}`"));
  });
});

describe("what a scope gives but is no data", () => {
  let ran = 0;
  class Point {
    x = 1;
    get y(): number {
      ran += 1;
      return 2;
    }
    toJSON(): string {
      ran += 1;
      return "ran";
    }
    toString(): string {
      ran += 1;
      return "ran";
    }
    [Symbol.toPrimitive](): string {
      ran += 1;
      return "ran";
    }
  }
  const withGetter = Object.defineProperty(new Point(), "z", {
    enumerable: true,
    get: () => {
      ran += 1;
      return 3;
    },
  });
  const call = () => {
    ran += 1;
    return "ran";
  };
  const odd: readonly (readonly [name: string, value: unknown])[] = [
    ["a function", call],
    ["a class", Point],
    ["an instance", new Point()],
    ["an instance with a getter of its own", withGetter],
    ["an object that inherits data", Object.create({ a: 1 })],
    ["a map", new Map([["a", 1]])],
    ["a set", new Set([1])],
    ["a date", new Date(0)],
    ["bytes", new Uint8Array(2)],
    ["a pattern", /a/],
    ["an error", new Error("secret")],
    ["a promise", Promise.resolve(1)],
    ["a boxed text", Object("a")],
    ["a proxy of an instance", new Proxy(new Point(), {})],
    ["a proxy of a function", new Proxy(call, {})],
    ["a symbol", Symbol.iterator],
    ["a big integer", 1n],
  ];
  const READS = (
    'v v.x v.y v?.y v.z v.a v.constructor v["x"] v["toJSON"] v[0] v() -v !v v+1 v+"" v<v v??1 [v] {a:v} [v,1][0] ' +
    "string(v) json(v) json([v]) json({a:v}) size(v) type(v) keys(v) values(v) entries(v) merge(v) merge({a:1},v) " +
    "map(v,e,e) filter([v],e,true) sortBy([v,v],e,e) unique([v]) flatten([v]) fromEntries([v]) first([v]) " +
    'min(v) sum([v]) join([v],"") lower(v) number(v) date(v) contains(v,1) "x"in\u0020v true?v:1 o.v l[0] o.v.x first(l) last(values(o))'
  )
    .split(" ")
    .map((source) => source.replace('"x"in\u0020v', '"x" in v'));

  test.each(odd)("%s is refused by whatever reads it", (_name, v) => {
    ran = 0;
    const names = { v, o: { v }, l: [v] };
    for (const source of [...READS, '"${v}"', '"${[v]}"', '"${o}"', '"${l}"', "[l]", "[o]"]) {
      expect(["type_mismatch", "syntax"], source).toContain(codeOf(source, names));
    }
    const value = compileValue({ a: { $: "v" }, b: { $t: ["", { $: "v" }] } });
    expect(() => value.evaluate(scopeOf(names), { nowEpoch: NOW })).toThrow("no data");
    expect(evaluate("v == v && !(v == { x: 1 }) && v != [1] && !(1 in l)", names)).toBe(true);
    expect(ran).toBe(0);
  });

  test("a name that a program gave all objects is no member of any", () => {
    const all = Object.prototype as { polluted?: number };
    all.polluted = 1;
    try {
      expect(
        evaluate("[o.polluted, p.polluted, o?.polluted]", { o: {}, p: { polluted: 2 } }),
      ).toEqual([null, 2, null]);
    } finally {
      delete all.polluted;
    }
  });

  test("plain objects of another realm and without a prototype are data", () => {
    const bare = Object.assign(Object.create(null), { a: { b: 1 } });
    expect(evaluate("o.a.b + size(o)", { o: bare })).toBe(2);
    const realm = Object.create(Object.create(null, { inherited: { value: 1 } }), {
      a: { value: 1, enumerable: true },
    });
    expect(evaluate("[o.a, o.inherited, size(o)]", { o: realm })).toEqual([1, null, 1]);
  });

  test("members that are undefined are absent", () => {
    const o = { a: undefined, b: 1 };
    expect(evaluate('[o.a, "a" in o, size(o), keys(o), json(o), o == { b: 1 }]', { o })).toEqual([
      null,
      false,
      1,
      ["b"],
      '{"b":1}',
      true,
    ]);
  });

  test("a scope that throws ends the evaluation with what it threw", () => {
    const thrown = new Error("scope");
    const scope = {
      get: () => {
        throw thrown;
      },
    };
    expect(() => compileExpression("a ?? 1").evaluate(scope, { nowEpoch: 0 })).toThrow(thrown);
  });
});
