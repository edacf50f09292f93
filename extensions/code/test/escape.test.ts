/** Ways out of the sandbox, ways to stay in it for ever, and ways to leave something behind. All are closed. */
import { createTestHost } from "@millrace/testkit";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import extension from "../src/extension.ts";

const t = createTestHost({ extension });
const PATIENT = { timeoutMs: 10_000 };

/** The output, or the code of the failure and its message. */
async function outcome(source: string, more: object = PATIENT): Promise<unknown> {
  const fields = { source, input: { a: 1 }, ...more };
  return t.run("code.run", fields).then(
    (output) => Object(output).value,
    (error) => `${error.code}: ${error.message}`,
  );
}

const FRESH = `return [
  Object.getOwnPropertyNames(globalThis).length, typeof leaked, {}.polluted ?? null, [].polluted ?? null,
  " x ".trim(), JSON.stringify({ a: [1] }), typeof Promise.prototype.then, [...[1, 2]], Math.max(1, 2),
  new Uint8Array(4_000_000).indexOf(65),
]`;
let fresh: unknown;

beforeAll(async () => {
  fresh = await outcome(FRESH);
});

afterEach(async () => {
  expect(await outcome(FRESH)).toEqual(fresh);
});

const NOBODY = `["process", "require", "module", "exports", "global", "Buffer", "fetch", "WebSocket", "XMLHttpRequest", "Worker",
  "setTimeout", "setInterval", "setImmediate", "queueMicrotask", "WebAssembly", "SharedArrayBuffer", "Atomics", "Intl", "Deno",
  "std", "os", "bjson", "print", "scriptArgs", "performance", "navigator", "structuredClone", "__dirname", "importScripts"]`;

describe("what a script finds", () => {
  test.each([
    ["no global of a host", `return ${NOBODY}.filter((name) => name in globalThis)`, []],
    ["none by Function", 'return Function("return typeof process")()', "undefined"],
    [
      "none by the console",
      'return console.log.constructor("return typeof process")()',
      "undefined",
    ],
    ["none by Date", 'return Date.constructor("return typeof process")()', "undefined"],
    [
      "none by its input",
      'return input.constructor.constructor("return typeof require")()',
      "undefined",
    ],
    [
      "none by async code",
      'return (async () => 1).constructor("return typeof process")()',
      "undefined",
    ],
    [
      "none by a generator",
      'return [...(function* () {}).constructor("yield typeof process")()]',
      ["undefined"],
    ],
    ["none by eval", 'return (0, eval)("typeof require")', "undefined"],
    ["no global as this", "return (function () { return this === undefined })()", true],
    ["one argument", "return arguments.length", 1],
    ["no caller", "return new.target === undefined", true],
    ["no debugger", "debugger; return 1", 1],
    [
      "no place of the host",
      "return /[/\\\\]|file:|node:|\\.ts/.test(new Error('x').stack)",
      false,
    ],
    [
      "no frames of the host",
      "Error.prepareStackTrace = (_, all) => all; return String(new Error().stack).includes('/')",
      false,
    ],
    [
      "no zone but UTC",
      "return [new Date(2020, 5, 1).getTimezoneOffset(), new Date(0).toString()]",
      [0, "Thu Jan 01 1970 00:00:00 GMT+0000"],
    ],
    [
      "times that it was given",
      "return new Date(new Date('2020-01-02')).toISOString()",
      "2020-01-02T00:00:00.000Z",
    ],
    [
      "a class of times",
      "class D extends Date {} return [new D(5) instanceof D, new D(5).getTime()]",
      [true, 5],
    ],
    [
      "finalizers that do nothing",
      "new FinalizationRegistry(() => { while (true); }).register({}, 1); return 1",
      1,
    ],
    ["memory that is clean", "return new Uint8Array(4_000_000).fill(65).length", 4_000_000],
    [
      "globals that it may change",
      "globalThis.leaked = 1; Object.prototype.polluted = Array.prototype.polluted = 1; return 1",
      1,
    ],
    [
      "methods that it may change",
      "String.prototype.trim = () => 'mine'; Math.max = () => 9; return 1",
      1,
    ],
    [
      "JSON that it may change",
      "JSON.parse = JSON.stringify = () => 'mine'; return input",
      { a: 1 },
    ],
    [
      "promises that it may change",
      "Promise.prototype.then = Promise.resolve = () => { throw 1 }; return new Promise((done) => done(1))",
      1,
    ],
    [
      "no iterator of the host",
      "Array.prototype[Symbol.iterator] = function* () {}; console.log(1); return [2]",
      [2],
    ],
    [
      "no setter of the host",
      "Object.defineProperty(Array.prototype, 0, { set() { globalThis.leaked = 1 } }); console.log(1); return 1",
      1,
    ],
    ["no promise of the host", "globalThis.Promise = null; return Promise", null],
    [
      "a key that is only a key",
      `return JSON.parse('{"__proto__":{"polluted":1}}').polluted ?? null`,
      null,
    ],
    ["an input of its own", "input.a = 2; Object.freeze(input); return input", { a: 2 }],
  ])("is %s", async (_name, source, value) => {
    expect(await outcome(source)).toEqual(value);
  });
});

describe("what a script returns", () => {
  test.each([
    ["a getter as its value", "return { get a() { return 1 } }", { a: 1 }],
    ["a proxy as its members", "return new Proxy({ a: 1 }, {})", { a: 1 }],
    ["what a thenable is settled with", "return { then(done) { done(1); done(2) } }", 1],
    [
      "what a promise in a promise is settled with",
      "return Promise.resolve({ then: (done) => done(5) })",
      5,
    ],
    ["no symbols", "return { [Symbol.toPrimitive]: 1, [Symbol('a')]: 2, b: 3 }", { b: 3 }],
    ["no absent members", "return { a: undefined, b: [null] }", { b: [null] }],
    [
      "half a pair of surrogates",
      "return ['\\ud800', 'a\\u0000b', '\\u2028']",
      ["\ufffd", "a\u0000b", "\u2028"],
    ],
    [
      "what toJSON of all objects says",
      "Object.prototype.toJSON = () => 'mine'; return { a: 1 }",
      "mine",
    ],
    ["what toJSON of all lists says", "Array.prototype.toJSON = () => 'mine'; return [1]", "mine"],
    ["minus zero as zero", "return -0", 0],
  ])("is %s", async (_name, source, value) => {
    expect(await outcome(source)).toEqual(value);
  });

  test.each([
    [
      "nothing",
      "input.a",
      /code_output: the returned value is undefined, .* end the code with `return …`/,
    ],
    ["a function", "return { a: { b() {} } }", /code_output: .* at \/a\/b is a function/],
    ["a symbol", "return Symbol.iterator", /code_output: .* is a symbol/],
    ["a bigint", "return [1n]", /code_output: .* at \/0 is a bigint/],
    ["no number", "return { a: NaN }", /code_output: .* at \/a is NaN/],
    ["an infinite number", "return -1 / 0", /code_output: .* is -Infinity/],
    [
      "a circle",
      "const a = {}; a.a = a; return a",
      /code_output: .* deeper than 200 levels, or holds itself/,
    ],
    ["a hole", "return [, 1]", /code_output: .* at \/0 is undefined/],
    ["a time", "return new Date(0)", /code_output: .* is a Date/],
    ["a map", "return new Map()", /code_output: .* is a Map/],
    [
      "an object of a class",
      "return new (class Secret { a = 1 })()",
      /code_output: .* is a Secret/,
    ],
    ["bytes", "return new Uint8Array(2)", /code_output: .* is a Uint8Array/],
    ["a toJSON", "return { toJSON: () => 1 }", /code_output: .* at \/toJSON is a function/],
    [
      "a prototype",
      `return JSON.parse('{"__proto__":{}}')`,
      /code_output: .* at \/__proto__ is no legal key/,
    ],
    ["a toJSON without an answer", "Object.prototype.toJSON = () => {}; return {}", /code_output/],
    [
      "a promise without an end",
      "return new Promise(() => {})",
      /code_output: the returned promise is never settled/,
    ],
    [
      "a getter that throws",
      "return { get a() { throw new Error('no') } }",
      /code_threw: Error: no/,
    ],
    [
      "a proxy that throws",
      "return new Proxy({}, { getPrototypeOf() { throw null } })",
      /code_threw: threw null/,
    ],
  ])("is refused: %s", async (_name, source, message) => {
    expect(await outcome(source)).toMatch(message);
  });
});

describe("what fails", () => {
  test.each([
    ["a module", "return import('node:fs')", /code_threw: ReferenceError: could not load module/],
    [
      "a module by Function",
      `return Function("return import('fs')")()`,
      /code_threw: ReferenceError/,
    ],
    ["a statement of modules", "import fs from 'fs'; return 1", /flow_invalid/],
    ["the place of a module", "return import.meta.url", /flow_invalid/],
    ["to wait", "await 1", /flow_invalid/],
    [
      "to wait in memory",
      "return Atomics.wait(new Int32Array(1), 0, 0)",
      /code_threw: ReferenceError/,
    ],
    ["the caller", "return arguments.callee", /code_threw: TypeError/],
    ["the time", "return Date.now()", /code_threw: TypeError: the time of day is not available/],
    ["the time as text", "return Date()", /the time of day is not available/],
    [
      "the time by a class",
      "class D extends Date {} return new D()",
      /the time of day is not available/,
    ],
    [
      "the time by a constructor",
      "return new (new Date(0).constructor)()",
      /the time of day is not available/,
    ],
    [
      "the time by Reflect",
      "return Reflect.construct(Date, [], Object)",
      /the time of day is not available/,
    ],
    ["chance", "return Math.random()", /Math\.random\(\) is not available/],
    [
      "an end of the function",
      "}); while (true); (function () {",
      /flow_invalid: .* closes the function/,
    ],
    ["an end of the function, and a member", "}[input] = function () {", /flow_invalid/],
    ["an end of the function, and a list", "}, function () {", /flow_invalid/],
    ["an end of the function, twice", "}}); while (true); (function () {{", /flow_invalid/],
    ["a comment to the end", "return 1 /*", /flow_invalid/],
    ["a scope of objects", "with (input) { return a }", /flow_invalid/],
    [
      "a stack that lies",
      "const e = new Error('x'); e.stack = 'at /etc/passwd'; throw e",
      /^code_threw: Error: x$/,
    ],
    [
      "an error that cannot be read",
      "throw new Proxy(new Error('x'), { get() { throw 1 } })",
      /code_threw: threw a value that cannot be shown/,
    ],
    [
      "an error without a text",
      "let n = 0; Object.prototype.toJSON = function () { return n++ ? this : { text: { toString: 1 } } }; throw 1",
      /code_threw: threw {"toString":1}$/,
    ],
    ["no error at all", "throw { password: 1 }", /code_threw: threw {"password":1}/],
  ])("is %s", async (_name, source, message) => {
    expect(await outcome(source)).toMatch(message);
  });
});

describe("what would not end", () => {
  const TIME =
    /limit_exceeded: limit code\.timeoutMs: .* longer than 60 ms; the field timeoutMs raises it up to 10000/;
  const MEMORY =
    /limit_exceeded: limit code\.memoryBytes: .* more than 16777216 bytes; the field memoryBytes raises it up to/;
  const OUTPUT =
    /limit_exceeded: limit code\.output: what it returns and logs has more than 5 MiB$/;
  const STACK = /limit_exceeded: limit code\.stack: /;

  test.each([
    ["a loop", "while (true);", TIME],
    ["a loop that catches", "for (;;) { try { while (true); } catch {} }", TIME],
    ["a loop at the end", "try { while (true); } finally { while (true); }", TIME],
    ["a regular expression", "return /^(a+)+$/.test('a'.repeat(40) + '!')", TIME],
    ["a search in nothing", "return Array.prototype.indexOf.call({ length: 4294967295 }, 1)", TIME],
    ["a sum of large numbers", "let n = 3n ** 9999n; for (;;) n = (n * n) % 10n ** 9999n", TIME],
    ["a list as text", "return new Array(1e9) + ''", TIME],
    [
      "bytes that are filled",
      "const bytes = new Uint8Array(500_000); for (;;) bytes.fill(1)",
      TIME,
    ],
    ["jobs of promises", "const again = () => Promise.resolve().then(again); return again()", TIME],
    ["a thenable of itself", "const a = { then: (done) => done(a) }; return a", TIME],
    ["a getter of the answer", "return { get a() { while (true); } }", TIME],
    [
      "a getter of an error",
      "throw Object.defineProperty(new Error(), 'message', { get() { while (true); } })",
      TIME,
    ],
    ["a text of the console", "console.log({ toJSON() { while (true); } })", TIME],
    ["a text", "return 'x'.repeat(20_000_000)", MEMORY],
    ["a buffer", "return new ArrayBuffer(20_000_000)", MEMORY],
    [
      "a list that grows",
      "const all = []; for (;;) all.push('x'.repeat(50_000) + all.length)",
      MEMORY,
    ],
    [
      "a list that is caught",
      "const all = []; try { for (;;) all.push(new Uint8Array(50_000)) } catch { return input.a }",
      1,
    ],
    ["a large answer", "return 'x'.repeat(6e6)", OUTPUT],
    ["calls", "const f = () => f() + 1; return f()", STACK],
    ["a getter of itself", "const a = { get a() { return this.a } }; return a.a", STACK],
    [
      "lists in lists",
      "let a = []; for (let n = 0; n < 5000; n++) a = [a]; return JSON.stringify(a)",
      STACK,
    ],
    ["brackets", "return eval('('.repeat(50_000))", STACK],
  ])("ends: %s", async (_name, source, expected) => {
    const limits = expected === TIME ? { timeoutMs: 60 } : { ...PATIENT, memoryBytes: 16_777_216 };
    const more = expected === STACK || expected === OUTPUT ? PATIENT : limits;
    const result = await outcome(source, more);
    if (expected instanceof RegExp) expect(result).toMatch(expected);
    else expect(result).toBe(expected);
  });
});
