/** Rules between the fields of an ai node. */
import { expect, test } from "vitest";
import { mended, report } from "./check.ts";

test("a task says which field it needs", () => {
  const text = `
node a: ai {
  task = "judge"
  input = "x"
}
`;

  expect(report(text, "FLOW3015")).toMatchInlineSnapshot(`
    "error: ai: task judge needs rubric
    at 4:1 to 7:2 "node a: ai {"
    place /nodes/0
    hint: keep one; or the task that the field belongs to"
  `);
});

test("a task says which field it cannot go with", () => {
  const text = `
node a: ai {
  task = "embed"
  input = "x"
  system = "y"
  expect = [{ kind: "contains", value: "z" }]
}
`;

  expect(report(text, "FLOW3015")).toMatchInlineSnapshot(`
    "error: ai: system cannot go with task embed
    at 7:12 to 7:15 "\\"y\\""
    place /nodes/0/fields/system
    hint: keep one; or the task that the field belongs to
    error: ai: expect contains cannot go with task embed
    at 8:13 to 8:45 "{ kind: \\"contains\\", value: \\"z\\" }"
    place /nodes/0/fields/expect/0
    hint: keep one; or the task that the field belongs to"
  `);
});

test("a field says which task it belongs to", () => {
  const text = `
node a: ai {
  input = "x"
  maxWords = 10
  multi = true
}
`;

  expect(report(text, "FLOW3015")).toMatchInlineSnapshot(`
    "error: ai: maxWords needs task summarize
    at 6:14 to 6:16 "10"
    place /nodes/0/fields/maxWords
    hint: keep one; or the task that the field belongs to
    error: ai: multi needs labels
    at 7:11 to 7:15 "true"
    place /nodes/0/fields/multi
    hint: keep one; or the task that the field belongs to"
  `);
});

test("chat takes messages", () => {
  const text = `
node a: ai {
  task = "chat"
  input = "x"
}
`;

  expect(report(text, "FLOW3015")).toMatchInlineSnapshot(`
    "error: ai: input needs the form { messages: [...] } with task chat
    at 6:11 to 6:14 "\\"x\\""
    place /nodes/0/fields/input
    hint: keep one; or the task that the field belongs to"
  `);
});

test("an unknown tool is named", () => {
  const text = `
node a: ai {
  input = "x"
  tools = ["action:file.shred", "mcp:tracker/create", "flow:load-rows"]
}
`;

  expect(report(text, "FLOW3015")).toMatchInlineSnapshot(`
    "error: ai: unknown tool action:file.shred
    at 6:12 to 6:31 "\\"action:file.shred\\""
    place /nodes/0/fields/tools/0
    hint: flow:<slug>, action:<adapter>.<action> or mcp:<server>/<tool>"
  `);
});

test("two retry loops are a warning", () => {
  const text = `
node a: ai {
  input = "x"
  failover = [{ provider: "local", modelId: "m" }]
  @retry = { max: 2 }
}
`;

  expect(report(text, "FLOW3015")).toMatchInlineSnapshot(`
    "warning: two retry loops multiply: \`@retry\` and failover of a
    at 7:12 to 7:22 "{ max: 2 }"
    place /nodes/0/policy/retry
    hint: keep one"
  `);
});

test("a fallback that is no label is named", () => {
  const text = `
node a: ai {
  input = "x"
  labels = [{ name: "bug" }, { name: "praise" }]
  fallbackLabel = "bgu"
}
`;

  expect(report(text, "FLOW3006")).toMatchInlineSnapshot(`
    "error: fallbackLabel must be one of bug, praise, found "bgu"
    at 7:19 to 7:24 "\\"bgu\\""
    place /nodes/0/fields/fallbackLabel
    hint: did you mean bug?
    fix: write bug"
  `);

  expect(mended(text, "FLOW3006")).toMatchInlineSnapshot(`
    "
    node a: ai {
      input = "x"
      labels = [{ name: "bug" }, { name: "praise" }]
      fallbackLabel = "bug"
    }
    "
  `);
});

test("a tool that writes without asking is named, and the fix asks", () => {
  const text = `
node a: ai {
  input = "x"
  tools = [{ ref: "action:file.write", confirm: false }]
}
`;

  expect(report(text, "FLOW6006")).toMatchInlineSnapshot(`
    "warning: the model may call action:file.write, whose effect is write, without asking
    at 6:49 to 6:54 "false"
    place /nodes/0/fields/tools/0/confirm
    hint: \`confirm: true\`
    fix: write true"
  `);

  expect(mended(text, "FLOW6006")).toMatchInlineSnapshot(`
    "
    node a: ai {
      input = "x"
      tools = [{ ref: "action:file.write", confirm: true }]
    }
    "
  `);
});

test("labels are ports", () => {
  const text = `
node a: ai {
  input = "x"
  labels = [{ name: "bug" }, { name: "praise" }]
}
node b: join

a.bug -> b
a.out -> b
a.spam -> b
`;

  expect(report(text, "FLOW4002")).toMatchInlineSnapshot(`
    "error: a (ai) has no port spam
    at 12:2 to 12:7 ".spam"
    place /edges/2/port
    hint: ports: out, error, bug, praise"
  `);
});
