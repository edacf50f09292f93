/** Graphs as JSON, from programs that leave out what is empty: on the command line and over HTTP. */
import { expect, test } from "vitest";
import { world } from "./api-world.ts";
import { inside } from "./inside.ts";

const GRAPH = {
  ...{ version: 1, id: "bare" },
  nodes: [
    { id: "a", type: "transform", fields: { value: 1 } },
    { id: "b", type: "log", fields: { message: "on" } },
    {
      ...{ id: "m", type: "map", fields: { items: [] } },
      body: { nodes: [{ id: "t", type: "transform", fields: { value: 1 } }] },
    },
  ],
  edges: [{ from: "a", to: "b" }],
};

test.each([
  ["a port and all lists but edges", GRAPH],
  ["edges too", { ...GRAPH, edges: undefined }],
])("without %s a graph is validated, printed, drawn and run", async (_, graph) => {
  const files = { "graph.json": JSON.stringify(graph) };
  for (const command of ["validate", "graph", "run"]) {
    const { code, stderr } = await inside([command, "graph.json"], { files });
    expect([command, code, stderr]).toEqual([command, 0, expect.not.stringContaining("error")]);
  }
});

test("a graph that leaves out its empty lists is validated, printed, stored and run over HTTP", async () => {
  const at = await world();
  const invoke = async (command: string, args: object): Promise<unknown> =>
    JSON.parse(await at.invoke(command, args));
  expect(await invoke("validate_flow", { graph: GRAPH })).toMatchObject({ valid: true });
  expect(await invoke("convert_flow", { graph: GRAPH })).toMatchObject({
    dsl: expect.stringContaining("a -> b"),
  });
  expect(await invoke("save_template", { slug: "bare", graph: GRAPH })).toMatchObject({
    slug: "bare",
  });
  const ran = await invoke("run_and_wait", { graph: GRAPH, waitMs: 30_000 });
  expect(ran).toMatchObject({ status: "succeeded" });
});
