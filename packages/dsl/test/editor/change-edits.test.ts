import { readdirSync, readFileSync } from "node:fs";
import { DslError, normalizeGraph, parseFlow } from "@millrace/dsl";
import { applyEdits } from "@millrace/dsl/editor";
import { casesOf } from "@millrace/test-support";
import { describe, expect, test } from "vitest";
import { changeEdits } from "../../src/editor/change/change-edits.ts";
import { Reading } from "../../src/editor/reading.ts";
import type { FlowChange } from "../../src/editor/types.ts";
import { catalog } from "../fixtures/catalog.ts";
import { decorate, reblank, shuffleItems } from "../laws/decorate.ts";
import { commentsIn } from "../laws/layout.ts";
import { Random } from "../laws/random.ts";
import { Sample } from "../laws/sample.ts";
import { anyChange, changedGraph } from "./changes.ts";
import { SEEDS } from "./seeds.ts";

function changed(text: string, change: FlowChange): string {
  return applyEdits(text, changeEdits(new Reading(text, catalog), change));
}

const FLOWS = new URL("../fixtures/flows/", import.meta.url);

const TEXT = `flow 1 f

# first
node a:log {
  # what it says
  message="x"   # loud
  @retry = { max: 2, # few
    delay: 1s }
}

# parted

# of b
node b: map {
    items = [1, 2]
    body {
        node in: log { message = "y" }
    }
}

node c: log

a -> b -> c # a chain

# foot
`;

/** A change, the text it replaces, and what stands there afterwards. */
const CASES: readonly (readonly [string, FlowChange, string, string])[] = [
  [
    "a field is set in place",
    { kind: "setField", path: "a", field: "message", value: { $: "1 + 1" } },
    'message="x"   # loud',
    "message = 1 + 1   # loud",
  ],
  [
    "a field is added behind the fields",
    { kind: "setField", path: "a", field: "level", value: "info" },
    'message="x"   # loud\n',
    'message="x"   # loud\n  level = "info"\n',
  ],
  [
    "a field of several lines takes the indent around it",
    { kind: "setField", path: "b", field: "note", value: "one\ntwo" },
    "items = [1, 2]\n",
    'items = [1, 2]\n    note = """\n      one\n      two\n      """\n',
  ],
  [
    "a field is added to a block on one line",
    { kind: "setField", path: "b/in", field: "level", value: "info" },
    'node in: log { message = "y" }',
    'node in: log { message = "y"\n          level = "info"\n        }',
  ],
  [
    "a field is added to a node without a block",
    { kind: "setField", path: "c", field: "message", value: "z" },
    "node c: log\n",
    'node c: log {\n  message = "z"\n}\n',
  ],
  [
    "a field goes with its comments",
    { kind: "removeField", path: "a", field: "message" },
    '  # what it says\n  message="x"   # loud\n',
    "",
  ],
  [
    "a field of a block on one line goes",
    { kind: "removeField", path: "b/in", field: "message" },
    'log { message = "y" }',
    "log { }",
  ],
  [
    "what stays of a policy keeps its comments",
    { kind: "setPolicy", path: "a", policy: "retry", value: { max: 5, delayMs: 2000 } },
    "@retry = { max: 2, # few\n    delay: 1s }",
    "@retry = {\n    max: 5, # few\n    delay: 2s,\n  }",
  ],
  [
    "a policy stands in its order",
    { kind: "setPolicy", path: "a", policy: "timeout", value: 90_000 },
    "  @retry =",
    "  @timeout = 90s\n  @retry =",
  ],
  [
    "a policy goes",
    { kind: "setPolicy", path: "a", policy: "retry", value: undefined },
    "  @retry = { max: 2, # few\n    delay: 1s }\n",
    "",
  ],
  [
    "a node is added behind the nodes",
    { kind: "addNode", node: { id: "d", type: "log", fields: { message: "d" } } },
    "node c: log\n",
    'node c: log\n\nnode d: log {\n  message = "d"\n}\n',
  ],
  [
    "a node is added to a body with its indent",
    { kind: "addNode", in: "b", node: { id: "d", type: "log", fields: { message: "d" } } },
    'message = "y" }\n',
    'message = "y" }\n        node d: log {\n          message = "d"\n        }\n',
  ],
  [
    "a node is added where no body is yet",
    { kind: "addNode", in: "c", node: { id: "d", type: "log", fields: {} } },
    "node c: log\n",
    "node c: log {\n  body {\n    node d: log\n  }\n}\n",
  ],
  [
    "an edge is added behind the edges",
    { kind: "addEdge", edge: { from: "a", port: "error", to: "c" } },
    "# a chain\n",
    "# a chain\na.error -> c\n",
  ],
  [
    "the other edges of a chain stay",
    { kind: "removeEdge", from: "a", to: "b" },
    "a -> b -> c # a chain",
    "b -> c # a chain",
  ],
  [
    "a layout stands behind everything",
    { kind: "setLayout", path: "b/in", x: 1, y: -2.5 },
    "a -> b -> c # a chain\n",
    'a -> b -> c # a chain\n\nlayout {\n  "b/in" = [1, -2.5]\n}\n',
  ],
];

test.each(CASES)("%s", (_, change, before, after) => {
  expect(TEXT).toContain(before);
  expect(changed(TEXT, change)).toBe(TEXT.replace(before, () => after));
});

test("a node takes its comments, edges and places along; parted comments stay", () => {
  const text = changed(TEXT, { kind: "setLayout", path: "b/in", x: 1, y: 2 });
  const placed = changed(text, { kind: "setLayout", path: "c", x: 3, y: 4 });
  const without = changed(placed, { kind: "removeNode", path: "b" });
  const start = TEXT.indexOf("\n# of b");
  const end = TEXT.indexOf("\nnode c");
  const expected = TEXT.slice(0, start) + TEXT.slice(end);
  expect(without).toBe(
    expected.replace("a -> b -> c # a chain\n\n", "layout {\n  c = [3, 4]\n}\n\n"),
  );
  expect(changed(without, { kind: "clearLayout" })).toBe(
    expected.replace("a -> b -> c # a chain\n\n", ""),
  );
});

test("a node with another name has it wherever it is named", () => {
  const text = changed(TEXT, { kind: "setLayout", path: "b/in", x: 1, y: 2 });
  expect(changed(text, { kind: "renameNode", path: "b", to: "b2" })).toBe(
    text
      .replace("node b: map", "node b2: map")
      .replace("a -> b -> c", "a -> b2 -> c")
      .replace('"b/in"', '"b2/in"'),
  );
});

test("line ends stay those of the text", () => {
  const text = TEXT.replaceAll("\n", "\r\n");
  for (const [, change, before, after] of CASES) {
    expect(changed(text, change)).toBe(TEXT.replace(before, () => after).replaceAll("\n", "\r\n"));
  }
});

test("a value that is there already changes nothing", () => {
  const change: FlowChange = { kind: "setField", path: "a", field: "message", value: "x" };
  expect(changeEdits(new Reading(TEXT, catalog), change)).toEqual([]);
});

test("comments between the parts of a value stay when the value changes", () => {
  const text = "flow 1 f\n\nnode a: log {\n  message = (1 # one\n    + 2)\n}\n";
  expect(changed(text, { kind: "setField", path: "a", field: "message", value: 3 })).toBe(
    "flow 1 f\n\nnode a: log {\n  # one\n  message = 3\n}\n",
  );
});

describe("what cannot be done is refused", () => {
  const nowhere = { kind: "removeNode", path: "b/x" } as const;
  test.each<readonly [FlowChange, string, string]>([
    [nowhere, "path_unknown", "there is no node b/x"],
    [
      { kind: "addNode", node: { id: "a", type: "log", fields: {} } },
      "name_taken",
      "there is a node a already",
    ],
    [{ kind: "removeField", path: "a", field: "x" }, "name_unknown", "node a has no field x"],
    [
      { kind: "setPolicy", path: "a", policy: "retri", value: 1 },
      "name_unknown",
      "there is no policy @retri",
    ],
    [{ kind: "setPolicy", path: "a", policy: "retry", value: undefined }, "", ""],
    [
      { kind: "setPolicy", path: "a", policy: "join", value: "some" },
      "graph_invalid",
      "must be all, any or a whole number",
    ],
    [
      { kind: "addEdge", edge: { from: "a", port: "out", to: "b" } },
      "name_taken",
      "there is an edge a.out -> b already",
    ],
    [
      { kind: "addEdge", edge: { from: "a", port: "out", to: "in" } },
      "path_unknown",
      "the flow has no node in",
    ],
    [{ kind: "removeEdge", from: "a", to: "c" }, "name_unknown", "there is no edge a -> c"],
    [{ kind: "renameNode", path: "a", to: "b" }, "name_taken", "b is the name of another node"],
    [{ kind: "renameNode", path: "a", to: "" }, "name_invalid", "is no name"],
    [{ kind: "clearLayout", path: "a" }, "path_unknown", "the layout has no place of a"],
  ])("%j", (change, code, message) => {
    if (code === "") {
      expect(changed(TEXT, change)).not.toContain("@retry");
      return;
    }
    expect(() => changed(TEXT, change)).toThrow(expect.objectContaining({ code }));
    expect(() => changed(TEXT, change)).toThrow(message);
    expect(() => changed(TEXT, change)).toThrow(DslError);
  });

  test("in a text that could not be read", () => {
    expect(() => changed(`${TEXT}\nnode {`, { kind: "clearLayout" })).toThrow(
      expect.objectContaining({ code: "text_invalid" }),
    );
  });
});

/** Changes that take nothing out of a text. */
const KEEPS_ALL: readonly string[] = ["addNode", "addEdge"];

/** Makes a random change of a text and checks it; false: the text had nothing to change so. */
function checkChange(text: string, r: Random, what: string): boolean {
  const reading = new Reading(text, catalog);
  const { graph } = reading.parsed;
  const change = anyChange(graph, r);
  if (!change) return false;
  const edits = changeEdits(reading, change);
  const after = applyEdits(text, edits);
  const shown = `${what} ${JSON.stringify(change)}\n${text}\n--- is now\n${after}`;
  expect(parseFlow(after).graph, shown).toEqual(normalizeGraph(changedGraph(graph, change)));
  const comments = commentsIn(text);
  const now = commentsIn(after);
  expect(
    now.every((comment) => comments.includes(comment)),
    shown,
  ).toBe(true);
  // Comments go with what they are of, and only with that.
  const lost = comments.filter((comment) => !now.includes(comment));
  const deleted = edits.map((edit) => text.slice(edit.from, edit.to)).join("\n");
  expect(
    lost.every((comment) => deleted.includes(comment)),
    shown,
  ).toBe(true);
  if (KEEPS_ALL.includes(change.kind)) expect(lost, shown).toEqual([]);
  // The bytes of all items that no edit touches stay, in their order.
  let from = 0;
  for (const item of reading.items) {
    if (edits.some((edit) => edit.from < item.end && edit.to > item.start)) continue;
    if (edits.some((edit) => edit.from === edit.to && edit.from === item.end)) continue;
    const at = after.indexOf(text.slice(item.start, item.end), from);
    expect(at, shown).toBeGreaterThanOrEqual(from);
    from = at + item.end - item.start;
  }
  return true;
}

describe("E7: the text says the changed graph, and what was not touched stays", () => {
  test("in random flows", () => {
    let made = 0;
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const sample = new Sample(seed);
      if (sample.isLarge) continue;
      const r = sample.random(22);
      const text = r.pick([
        () => sample.text,
        () => sample.decorated,
        () => reblank(sample.decorated, r),
        () => shuffleItems(decorate(sample.text, r), r),
      ])();
      if (checkChange(text, r, `seed ${seed}`)) made += 1;
    }
    expect(made).toBeGreaterThan(SEEDS / 4);
  }, 600_000);

  test.each(readdirSync(FLOWS))("in %s", (name) => {
    const text = readFileSync(new URL(name, FLOWS), "utf8");
    for (let seed = 0; seed < casesOf(200); seed += 1) {
      const r = new Random(seed);
      const form = r.pick([text, decorate(text, r), reblank(text, r), shuffleItems(text, r)]);
      checkChange(form, r, name);
    }
  });
});
