/** The laws of extensions, what a step says of its limits and schemas, and that calls leave nothing. */
import { fileURLToPath } from "node:url";
import { conformance, createTestHost } from "@millrace/testkit";
import { describe, expect, test } from "vitest";
import extension from "../src/extension.ts";
import { meterWasm } from "../src/meter-wasm.ts";
import { Sandbox } from "../src/sandbox.ts";

const folder = fileURLToPath(new URL("..", import.meta.url));
const count = "return { count: input.length }";
const cases = conformance(extension, {
  fixtures: {
    "code.run": [
      {
        fields: { source: count, input: [1, 2], inputSchema: { items: { type: "integer" } } },
        output: { value: { count: 2 } },
      },
      {
        fields: { source: "console.warn('odd', input); throw new Error('no')" },
        fails: "code_threw",
      },
      { fields: { source: "while (true);", timeoutMs: 50 }, fails: "limit_exceeded" },
    ],
  },
  package: folder,
});
for (const { name, run } of cases) test(name, run, 60_000);

describe("a step", () => {
  const run = (fields: object, config = {}) =>
    createTestHost({ extension, config: { code: config } }).run("code.run", { ...fields } as never);

  test("says where its source is wrong, before anything runs", async () => {
    const source = "const total = input.a;\nreturn total +;";
    await expect(run({ source })).rejects.toThrow(
      "FLOW3016: node: unexpected token in expression: ';' (line 2, column 15 of source)",
    );
  });

  test("says where its code has thrown", async () => {
    const source = "const first = input[0];\n\nreturn first.name;";
    await expect(run({ source, input: [] })).rejects.toThrow(
      "TypeError: cannot read property 'name' of undefined (line 3, column 13 of source)",
    );
  });

  test("holds its input and its output to their schemas", async () => {
    const schema = { type: "object", properties: { count: { type: "integer" } } };
    expect(await run({ source: count, input: [1], outputSchema: schema })).toEqual({
      value: { count: 1 },
    });
    await expect(run({ source: "return { count: 0.5 }", outputSchema: schema })).rejects.toThrow(
      "the returned value at /count does not fit outputSchema",
    );
    await expect(run({ source: count, input: 5, inputSchema: { type: "array" } })).rejects.toThrow(
      "the input does not fit inputSchema",
    );
    await expect(run({ source: count, input: 48213, inputSchema: { maximum: 9 } })).rejects.toThrow(
      /^the input does not fit inputSchema: maximum$/,
    );
  });

  test.each([
    ["a pattern", "a".repeat(40), { pattern: "^(a+)+$" }],
    ["items that are unique", Array.from({ length: 60_000 }, (_, n) => n), { uniqueItems: true }],
  ])("ends where a schema would not: %s", async (_name, input, inputSchema) => {
    const given = typeof input === "string" ? `${input}!` : input;
    await expect(run({ source: count, input: given, inputSchema, timeoutMs: 60 })).rejects.toThrow(
      "limit code.timeoutMs: inputSchema took longer than 60 ms; the field timeoutMs raises it",
    );
  });

  test("has the memory of its limit for what a schema finds wrong, and lives on", async () => {
    const input = Array.from({ length: 3_000 }, (_, n) => n);
    const given = { source: count, input, timeoutMs: 10_000 };
    const found = { contains: { enum: ["x".repeat(50_000)] } };
    await expect(run({ ...given, inputSchema: found })).rejects.toThrow(
      "limit code.memoryBytes: inputSchema needed more than 67108864 bytes",
    );
    // What is wrong with one branch is forgotten when the other one fits.
    const fits = { items: { anyOf: [{ enum: ["x".repeat(50_000)] }, { type: "integer" }] } };
    expect(await run({ ...given, inputSchema: fits })).toEqual({ value: { count: 3_000 } });
    const tree = { anyOf: [{ type: "string" }, { items: { $ref: "#" } }] };
    const deep = { ...given, input: JSON.parse("[".repeat(90) + "]".repeat(90)) };
    expect(await run({ ...deep, inputSchema: tree })).toEqual({ value: { count: 1 } });
    await expect(run({ ...deep, inputSchema: { $ref: "#" } })).rejects.toThrow(
      "limit code.stack: inputSchema goes too deep for the input",
    );
  });

  test.each([
    "function f() { return 1 } function f() { return 2 } return f()",
    "var f; function f() { return 2 } return f()",
  ])("takes what JavaScript takes: %s", async (source) => {
    expect(await run({ source })).toEqual({ value: 2 });
  });

  test("has the limits of the operator, and raises them as far as he allows", async () => {
    const config = { timeoutMs: 40, maxTimeoutMs: 50 };
    const source = "while (true);";
    await expect(run({ source }, config)).rejects.toThrow(
      "limit code.timeoutMs: the code ran longer than 40 ms; the field timeoutMs raises it up to 50",
    );
    await expect(run({ source, timeoutMs: 51 }, config)).rejects.toThrow(
      'timeoutMs 51 is above 50, the maxTimeoutMs in the configuration of "code"',
    );
  });

  test("logs what its console says, up to a limit", async () => {
    const host = createTestHost({ extension });
    const source =
      "console.error(new TypeError('odd'), [1]); for (let n = 0; n < 200; n++) console.log(n, 'x'.repeat(5000)); return 1";
    await host.run("code.run", { source });
    const lines = host.events.flatMap((one) => (one.kind === "log" ? [one] : []));
    expect(lines[0]).toMatchObject({ level: "error", text: "TypeError: odd [1]" });
    expect(lines[1]?.text).toHaveLength(1_025);
    expect(lines.at(-1)?.text).toBe("101 more lines of console were dropped");
    const forged = createTestHost({ extension });
    const made = "const all = Array(300).fill({ level: 'warn', text: 'x'.repeat(5000) });";
    await forged.run("code.run", {
      source: `${made} Array.prototype.toJSON = () => all; return 1`,
    });
    const texts = forged.events.flatMap((one) => (one.kind === "log" ? [one.text] : []));
    expect([texts.length, texts[0]?.length]).toEqual([100, 1_025]);
  });
});

describe("a sandbox", () => {
  const limits = { timeoutMs: 10_000, memoryBytes: 67_108_864 };
  const work =
    "globalThis.kept = input; return [...'abc'].map((one) => one + Object.keys(globalThis).length)";

  test("is the same after a thousand calls as before the first", async () => {
    const sandbox = await Sandbox.open();
    const first = sandbox.run(work, "[1]", limits);
    for (let call = 0; call < 1_000; call += 1) {
      expect(sandbox.run(work, "[1]", limits).value).toEqual(first.value);
    }
    expect([sandbox.size, sandbox.isWorn]).toEqual([16_777_216, false]);
  });

  test("is given up after a call that was stopped or took more memory", async () => {
    const stopped = await Sandbox.open();
    expect(() => stopped.run("while (true);", undefined, { ...limits, timeoutMs: 5 })).toThrow();
    expect(stopped.isWorn).toBe(true);
    const grown = await Sandbox.open();
    expect(grown.run("return new Uint8Array(2e7).length", undefined, limits).value).toBe(2e7);
    expect(grown.isWorn).toBe(true);
  });

  test("is made of the module that this package knows", () => {
    expect(() => meterWasm(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))).toThrow(TypeError);
  });
});
