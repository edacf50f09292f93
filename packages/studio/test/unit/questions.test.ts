/** What the worker answers about a text. */
import { applyEdits } from "@millrace/dsl/editor";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  cornerOf,
  neighbour,
  problemCounts,
  readersOf,
  treeItems,
} from "../../src/page/screens/flow/flow-view.ts";
import { newFields } from "../../src/page/screens/flow/new-fields.ts";
import { plainControl } from "../../src/page/screens/flow/value-field.tsx";
import { findNode } from "../../src/page/state/flow-nodes.ts";
import type { ProjectData } from "../../src/worker/protocol.ts";
import { readValue, TextReader } from "../../src/worker/questions.ts";
import { catalogEntry } from "./catalog-entry.ts";

const FLOW = `flow 1 demo

node outer: map {
  items = [1, 2]
  @timeout = 20s
  body {
    node inner: transform {
      value = item
    }

    output = inner.value
  }
}

node last: transform {
  value = outer.items
}

layout {
  outer = [100, 40]
}
`;

const PROJECT: ProjectData = {
  entries: [catalogEntry("transform"), catalogEntry("map", { body: true })],
  connections: [],
  flows: [],
};
const readerOf = (text: string): TextReader["answers"] => new TextReader(PROJECT, text).answers;

describe("a text that was read", () => {
  test("says of a node what is written, with the text of each value", async () => {
    expect(await readerOf(FLOW).node("outer")).toMatchObject({
      id: "outer",
      type: "map",
      fields: [{ name: "items", source: "[1, 2]" }],
      policies: [{ name: "timeout", source: "20s", value: 20_000 }],
    });
    expect(await readerOf(FLOW).node("outer/inner")).toMatchObject({
      fields: [{ name: "value", source: "item", value: { $: "item" } }],
    });
    expect(await readerOf(FLOW).node("none")).toBeUndefined();
  });

  test("offers for a value that is being typed what may stand in its place", async () => {
    const { completionsIn } = readerOf(FLOW);
    const place = { path: "last", name: "value", isPolicy: false };
    const written = await completionsIn(place, "1 + ou", 6);
    expect(written).toContainEqual(expect.objectContaining({ label: "outer", from: 4, to: 6 }));
    const unset = await completionsIn({ ...place, name: "items" }, "out", 3);
    expect(unset).toContainEqual(expect.objectContaining({ label: "outer", from: 0, to: 3 }));
  });

  test("has its problems at their nodes, which hold those of their bodies", async () => {
    const wrong = FLOW.replace("value = item\n", "value = itm\n");
    const problems = await readerOf(wrong).problems();
    expect(problems).toMatchObject([{ node: "outer/inner" }]);
    const counts = problemCounts(problems);
    expect([...counts]).toEqual(
      expect.arrayContaining([
        ["outer", 1],
        ["outer/inner", 1],
      ]),
    );
    const { graph } = await readerOf(wrong).read();
    const [outer, last] = treeItems(graph, counts);
    expect(outer).toMatchObject({ path: "outer", problems: 1 });
    expect(outer?.children?.()).toEqual([
      { path: "outer/inner", id: "inner", type: "transform", problems: 1 },
    ]);
    expect(last).toEqual({ path: "last", id: "last", type: "transform" });
  });

  test("has a picture whose nodes stand where the layout says, and lead to each other", async () => {
    const { graph, picture, isWhole } = await readerOf(FLOW).read();
    expect(isWhole).toBe(true);
    expect(cornerOf(picture, "outer", undefined)).toEqual([100, 40]);
    expect(neighbour(picture, "outer", "next")).toBe("last");
    expect(neighbour(picture, "last", "previous")).toBe("outer");
    const placed = findNode(graph, "outer");
    expect(placed && readersOf(placed)).toEqual(["last"]);
    expect(findNode(graph, "outer/inner")?.owner).toBe("outer");
  });

  test("is not whole with an error of syntax, and is drawn all the same", async () => {
    const { graph, isWhole } = await readerOf(FLOW.replace("items = [1, 2]", "items = [1,")).read();
    expect(isWhole).toBe(false);
    expect(graph.nodes.map(({ id }) => id)).toContain("last");
  });
});

describe("a node that is added", () => {
  const PRICED = FLOW.replace("flow 1 demo\n", "flow 1 demo\n\ninput price: int = 1\n");
  const added = async (text: string): Promise<string> => {
    const edits = await readerOf(text).addNode({
      id: "more",
      type: "transform",
      hasBody: false,
      fields: [{ name: "value", example: { $: "inputs.price" }, placeholder: 0 }],
    });
    return applyEdits(text, edits);
  };

  test("has the fields of its example where the flow has what they name", async () => {
    expect(await added(PRICED)).toContain("node more: transform {\n  value = inputs.price\n}");
  });

  test("has placeholders where the example would bring an error into the flow", async () => {
    expect(await added(FLOW)).toContain("node more: transform {\n  value = 0\n}");
  });

  test("has a placeholder of the right type for each field that it needs", () => {
    const fields = newFields(
      catalogEntry("x", {
        fields: {
          type: "object",
          required: ["url", "count", "on", "list", "way", "either"],
          properties: {
            url: { type: "string", format: "uri" },
            count: { type: ["integer", "null"], minimum: 1 },
            on: { type: "boolean" },
            list: { type: "array" },
            way: { enum: ["up", "down"] },
            either: { anyOf: [{ type: "object" }, { type: "string" }] },
            other: { type: "string" },
          },
        },
        examples: [{ id: "a", type: "x", fields: { other: "o", count: 3 } }],
      }),
    );
    expect(fields).toEqual([
      { name: "url", placeholder: "https://example.com" },
      { name: "count", example: 3, placeholder: 1 },
      { name: "on", placeholder: false },
      { name: "list", placeholder: [] },
      { name: "way", placeholder: "up" },
      { name: "either", placeholder: {} },
    ]);
  });
});

describe("a value that is typed", () => {
  test("is what it means in a field or a policy", () => {
    expect(readValue("outer.items[0]")).toEqual({ value: { $: "outer.items[0]" } });
    expect(readValue('"text"')).toEqual({ value: "text" });
    expect(readValue("20s", "timeout")).toEqual({ value: 20_000 });
    expect(readValue("1 +")).toEqual({ problem: "expected a value, found line end" });
  });

  test("is never more than one value, whatever is typed", () => {
    for (const hostile of ["1\n}\nnode x: y {", "1\n  other = 2", "1 }\n\noutput a = 1 #"]) {
      expect(readValue(hostile)).toHaveProperty("problem");
    }
    fc.assert(
      fc.property(fc.string(), (source) => {
        const read = readValue(source);
        expect("value" in read || "problem" in read).toBe(true);
      }),
    );
  });

  test("has a plain control where its schema and its value are simple", () => {
    const written = (value: never) => ({ name: "f", source: "", value });
    expect(plainControl({ type: "boolean" }, undefined)).toMatchObject({ value: "" });
    expect(plainControl({ enum: ["a", "b"] }, written("a" as never))).toMatchObject({
      kind: "choice",
      value: '"a"',
    });
    expect(plainControl({ type: "integer" }, written(3 as never))).toEqual({
      kind: "number",
      value: "3",
    });
    expect(plainControl({ type: "boolean" }, written({ $: "x" } as never))).toBeUndefined();
    expect(plainControl({ type: "string" }, written("text" as never))).toBeUndefined();
  });
});
