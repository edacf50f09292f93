/** `explain`: codes, exit codes, node types, and what is nearly one of them. */
import { DIAGNOSTICS, type Diagnostic, formatFlow, listFunctions } from "@millrace/dsl";
import { BLOCK_WORDS, EXPLANATIONS, languagePage, POLICY_WORDS } from "@millrace/dsl/explain";
import { expect, test } from "vitest";
import { loadCommands } from "../src/argv/spec.ts";
import { JOB_CODES, NODE_CODES } from "../src/commands/explain/codes.ts";

import { NOUNS } from "../src/commands/index.ts";
import { coreEntries } from "../src/run/core-catalog.ts";
import { inside } from "./inside.ts";

test("a diagnostic is explained with an example of wrong and right", async () => {
  const { code, stdout, stderr } = await inside(["explain", "FLOW1003"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatchInlineSnapshot(`
    "FLOW1003 (error) string is not closed on its line

    A quoted string ends on the line that it starts on, so one forgotten quote costs one line and not the rest of the file.

    hint: use a \`"""\` block for text on several lines

    wrong

        node a: log {
          message = "late
        }

    right

        node a: log {
          message = "late"
        }
    "
  `);
});

test.each(["flow1003", "1003"])("%s is FLOW1003", async (word) => {
  const { stdout } = await inside(["explain", word, "--json"]);
  expect(JSON.parse(stdout)).toEqual({
    code: "FLOW1003",
    ...DIAGNOSTICS.FLOW1003,
    ...EXPLANATIONS.FLOW1003,
  });
});

test("what cannot be seen in an example is spelled out", async () => {
  const { stdout } = await inside(["explain", "FLOW1001"]);
  expect(stdout).toContain("    value =<U+00A0>1\n");
});

test("a member of a node type is explained with its kind, its default and its values", async () => {
  const { code, stdout } = await inside(["explain", "file.read.encoding"]);
  expect(code).toBe(0);
  expect(stdout).toBe(
    'file.read.encoding (field of file.read, string) How the bytes are given: as text, as data, or as base64. One of `"utf8"`, `"json"`, `"base64"`. Default `"utf8"`.\n',
  );
  const entries = coreEntries().filter(({ type }) => type !== "service.call");
  for (const { type, fields, output } of entries) {
    const { required = [] } = fields as { readonly required?: readonly string[] };
    for (const [name, schema] of Object.entries(fieldsOf(type))) {
      const { stdout: json } = await inside(["explain", `${type}.${name}`, "--json"]);
      const isRequired = required.includes(name);
      expect(JSON.parse(json)).toEqual({ kind: "field", type, name, required: isRequired, schema });
    }
    const known = fieldsOf(type);
    const { properties = {} } = output as { readonly properties?: object };
    for (const name of Object.keys(properties).filter((name) => !Object.hasOwn(known, name))) {
      const { stdout: json } = await inside(["explain", `${type}.${name}`, "--json"]);
      expect(JSON.parse(json)).toMatchObject({ kind: "output", type, name });
    }
  }
  expect((await inside(["explain", "file.read.nothing"])).code).toBe(2);
});

function fieldsOf(type: string): { readonly [name: string]: unknown } {
  const entry = coreEntries().findLast((each) => each.type === type);
  return (
    (entry?.fields as { readonly properties?: { readonly [name: string]: unknown } })?.properties ??
    {}
  );
}

test("an exit code is explained", async () => {
  expect((await inside(["explain", "3"])).stdout).toBe(
    "exit code 3 (invalid) the flow is invalid\n",
  );
});

test("a node type is explained with its fields, ports and an example", async () => {
  expect((await inside(["explain", "delay"])).stdout).toMatchInlineSnapshot(`
    "delay@1 Waits for a while or until a time, without holding a slot.

    fields

      for    number. A duration: \`90s\`.
      until  string. ISO 8601; past means at once.

    output

      at  string

    ports: out, error
    effect: pure

    example

        node delay: delay {
          for = 90s
        }
    "
  `);
});

/** What a node on its own cannot have: edges. */
const WANTS_EDGES = ["FLOW4008", "FLOW4009", "FLOW4016", "FLOW4017"];
/** What there is not where the example is tried: a described service, another flow. */
const WANTS_OTHERS = ["FLOW3006", "FLOW4010"];

test.each(coreEntries().map(({ type }) => type))(
  "the example of %s is a node of a flow without a finding",
  async (type) => {
    const { stdout } = await inside(["explain", type]);
    const node = stdout.slice(stdout.indexOf("\nexample\n") + "\nexample\n".length);
    const read = new Set([...node.matchAll(/\binputs\.(\w+)/g)].map(([, name]) => name));
    const inputs = [...read].map((name) => `input ${name}\n`).join("");
    const used = /connection = (".*")/.exec(node)?.[1];
    const connection = used === undefined ? "" : `connection ${used}: oauth\n`;
    const { stdout: told, code } = await inside(["validate", "x.flow", "--json"], {
      files: { "x.flow": `flow 1 x\n\n${inputs}${connection}${node}` },
    });
    const found = JSON.parse(told.split("\n")[0] ?? "").diagnostics as { code: string }[];
    const known = [...WANTS_EDGES, ...WANTS_OTHERS];
    expect(found.filter((each) => !known.includes(each.code))).toEqual([]);
    expect(code).toBe(found.some((each) => WANTS_OTHERS.includes(each.code)) ? 3 : 0);
  },
);

test("without a word every diagnostic is listed", async () => {
  const { stdout } = await inside(["explain"]);
  const lines = stdout.trimEnd().split("\n");
  expect(lines.map((line) => line.slice(0, 8))).toEqual(Object.keys(DIAGNOSTICS));
  expect(lines[0]).toBe("FLOW0001  error    file is not valid UTF-8 at byte {offset}");
});

test.each([
  ["FLOW1O03", "FLOW1003"],
  ["FLOW9099", "FLOW1099"],
  ["http.reqest", "http.request"],
  ["extension_throw", "extension_threw"],
])("%s is nearly %s", async (word, near) => {
  const { code, stdout, stderr } = await inside(["explain", word]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toBe(
    `error: nothing is called "${word}": neither a diagnostic, an exit code, an error code nor a node type; did you mean ${near}?\n`,
  );
});

test("under --json a failure leaves stdout empty and is one problem document on stderr", async () => {
  for (const words of [
    ["explain", "nothing-like-it"],
    ["explain", "FLOW1003", "--nope"],
  ]) {
    const { code, stdout, stderr } = await inside([...words, "--json"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(stderr)).toMatchObject({ code: "invalid_args", status: 422 });
  }
});

test("a field says which values it takes and which one it has", async () => {
  const { stdout } = await inside(["explain", "file.write"]);
  expect(stdout).toContain(
    'mode      string. create fails where a file is; replace is all or nothing. One of `"create"`, `"replace"`, `"append"`. Default `"create"`.',
  );
  expect((await inside(["explain", "file.read"])).stdout).toContain(
    'encoding  string. How the bytes are given: as text, as data, or as base64. One of `"utf8"`, `"json"`, `"base64"`. Default `"utf8"`.',
  );
});

test.each([
  ["@retry", "@retry (policy) "],
  ["retry", "@retry (policy) "],
  ["schedule", "schedule (block) "],
  ["upper", "upper(string) string (function) the text in upper case"],
  ["map()", "map(list, x, T) list (function) "],
  ["egress.maxRedirects", "egress.maxRedirects (key of millrace.json, number) "],
])("%s is explained", async (word, start) => {
  const { code, stdout } = await inside(["explain", word]);
  expect(code).toBe(0);
  expect(stdout.slice(0, start.length)).toBe(start);
});

test.each(Object.entries({ ...POLICY_WORDS, ...BLOCK_WORDS }))(
  "the example of %s is a flow without an error, in canonical form",
  async (_word, { example }) => {
    const text = `flow 1 x\n\n${example}\n`;
    expect(formatFlow(text).text).toBe(text);
    const { stdout } = await inside(["validate", "x.flow", "--json"], {
      files: { "x.flow": text },
    });
    const found = JSON.parse(stdout.split("\n")[0] ?? "").diagnostics as Diagnostic[];
    // No service is described there.
    const errors = found.filter(
      ({ code, severity }) => severity === "error" && code !== "FLOW3006",
    );
    expect(errors).toEqual([]);
  },
);

test("the commands that explanations of codes name are there", async () => {
  const known = (await loadCommands(NOUNS)).map(({ path }) => path.join(" "));
  const named = Object.values({ ...NODE_CODES, ...JOB_CODES })
    .flatMap((text) => [...text.matchAll(/`millrace ([a-z ]+)/g)])
    .map(([, words = ""]) => words.trim());
  expect(named.length).toBeGreaterThan(2);
  for (const words of named)
    expect(
      known.some((path) => words.startsWith(path)),
      words,
    ).toBe(true);
});

test("the language is explained as one page, with core's own types", async () => {
  const { code, stdout } = await inside(["explain", "language"]);
  expect([code, stdout]).toEqual([0, languagePage(coreEntries())]);
  const { stdout: json } = await inside(["explain", "language", "--json"]);
  expect(JSON.parse(json)).toEqual({ kind: "language", page: stdout });
});

test("--all has a line for each word that is explained, and as data all of their explanations", async () => {
  const { stdout } = await inside(["explain", "--all"]);
  const words = stdout.split("\n").map((line) => line.split(" ")[0]);
  const named = ["language", "node", "@retry", "http.request", "upper", "FLOW1003", "dns", "124"];
  expect(words).toEqual(expect.arrayContaining([...named, "egress.maxRedirects"]));
  const { stdout: json } = await inside(["explain", "--all", "--json"]);
  const all = JSON.parse(json);
  expect(all.types).toEqual(coreEntries());
  expect(all.functions).toEqual(listFunctions());
  expect(all.diagnostics).toContainEqual({
    code: "FLOW1003",
    ...DIAGNOSTICS.FLOW1003,
    ...EXPLANATIONS.FLOW1003,
  });
  expect(all.language).toMatchObject({ version: 1, units: { h: 3_600_000 } });
  expect(all.language.policies.node).toContainEqual({
    ...{ name: "when", key: "when", schema: { type: "boolean" } },
    ...POLICY_WORDS["@when"],
  });
  expect(all.language.blocks.map(({ name }: { name: string }) => name)).toContain("schedule");
  expect((await inside(["explain", "upper", "--all"])).code).toBe(2);
});
