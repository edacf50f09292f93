/** What a node was given and the log does not tell is absent, or redacted. */
import { readNodeInputs } from "@millrace/engine";
import { planOf } from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";
import { recorded, recorder } from "./recorded.ts";

describe("what is not known", () => {
  const SECRET = `
    input key { schema = { type: "string", writeOnly: true } }
    input n: int = 2
    node a: test.work {
      value = inputs.n * 2
      key = inputs.key
      url = "https://x.example/?k=\${inputs.key}"
      size = size(inputs.key)
    }
    node b: test.work { value = a.value }`;

  test("is shown redacted where it is handed on, and absent where something is computed from it", async () => {
    const { read } = await recorded(SECRET, { key: "a-long-secret" });
    expect(await read("a")).toEqual({
      type: "test.work",
      attempt: 1,
      fields: { value: 4, key: "[redacted]", url: "https://x.example/?k=[redacted]" },
      redacted: ["/key", "/url"],
      absent: ["size"],
    });
    expect((await read("b"))?.fields).toEqual({ value: 4 });
  });

  test("is absent when the journal no longer has the value", async () => {
    const { run } = await recorded(
      `
      input text: string
      node a: test.work { value = inputs.text }
      node b: test.work {
 value = a.value
 other = inputs.text != "" ? 2 : 3
 }`,
      { text: "x".repeat(100_000) },
    );
    const journal = { ...run.journal, read: run.journal.read, getValue: async () => undefined };
    const known = await readNodeInputs({ ...run, journal }, { node: "b" });
    expect(known).toMatchObject({ fields: { other: 2 }, absent: ["value"] });
  });

  test("is absent when the flow is not what it was: the log knows the digest of what was given", async () => {
    const { run } = await recorded(
      `node a: test.work { value = 1 + 1 }\nnode b: test.work { value = a.value }`,
    );
    const plan = await planOf(
      `node a: test.work { value = 1 + 1 }\nnode b: test.work { value = a.value + 1 }`,
      { types: [recorder([])] },
    );
    expect(await readNodeInputs({ ...run, plan }, { node: "b" })).toMatchObject({
      fields: {},
      absent: ["value"],
    });
  });

  test("is null for a node that did not begin, or that the flow does not have", async () => {
    const { read } = await recorded(`
      node a: test.work {
        value = 1
        @when = 1 == 2
      }
      node m: map {
        items = [1]
        body { node x: test.work { value = item } }
      }`);
    for (const node of ["a", "nowhere", "m[7]/x", "m~2[0]/x", "a/x"]) {
      expect([node, await read(node)]).toEqual([node, null]);
    }
    expect((await read("m[0]/x"))?.fields).toEqual({ value: 1 });
  });

  test("is what a secret is computed from, however it is read, and wherever else it was given", async () => {
    const { read } = await recorded(
      `
      input keys { schema = { type: "array", items: { type: "string", writeOnly: true } } }
      input url: string
      node a: test.work { value = { key: inputs.keys[0], url: inputs.url } }
      node b: test.work {
        v1 = size(nodes["a"].value.key)
        v2 = map(inputs.keys, k, size(k))
        v3 = inputs["keys"][0] == "x"
        v4 = "go \${inputs.url}"
        v5 = a.value.url
      }`,
      { keys: ["a-long-secret"], url: "https://x.example/?k=a-long-secret" },
    );
    const url = "https://x.example/?k=[redacted]";
    expect((await read("a"))?.fields).toEqual({ value: { key: "[redacted]", url } });
    expect(await read("b")).toMatchObject({
      fields: { v4: `go ${url}`, v5: url },
      absent: ["v1", "v2", "v3"],
    });
  });

  test("is the state of a loop whose round has lost a value", async () => {
    const { run } = await recorded(
      `
      input text: string
      node poll: loop {
        init = "a"
        max = 2
        as = "last"
        body {
          node big: test.work { value = inputs.text }
          node step: test.work { value = last }
          output = big?.error ?? big.value
        }
      }`,
      { text: "x".repeat(100_000) },
    );
    const journal = { ...run.journal, read: run.journal.read, getValue: async () => undefined };
    const known = await readNodeInputs({ ...run, journal }, { node: "poll[1]/step" });
    expect(known).toMatchObject({ fields: {}, absent: ["value"] });
  });
});
