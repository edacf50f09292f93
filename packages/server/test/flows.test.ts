/** Commands of flows: nothing is executed. */
import type { FlowReport } from "@millrace/contracts";
import { formatFlow, parseFlow } from "@millrace/dsl";
import { expect, test } from "vitest";
import { HELLO } from "./support/flows.ts";
import { invoke, post, problemOf, serve } from "./support/server.ts";

const graph = parseFlow(HELLO).graph;

test("a valid flow has no errors, as text and as graph", async () => {
  const server = await serve();
  for (const flow of [{ dsl: HELLO }, { graph }]) {
    const response = await post(server, "/api/flows/validate", flow);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ valid: true, diagnostics: [] });
  }
});

test("an invalid flow is an answer, not a problem, and text has lines", async () => {
  const server = await serve();
  const dsl = "flow 1 x\n\nnode a: transform {\n  value = inputs.none\n}\n\nnode b: no.such {\n}\n";
  const byText = await invoke<FlowReport>(server, "validate_flow", { dsl });
  expect(byText.valid).toBe(false);
  expect(byText.diagnostics.map(({ range }) => range?.start.line).sort()).toEqual([4, 7]);
  const broken = await invoke<FlowReport>(server, "validate_flow", {
    dsl: "flow 1 x\n\nnode b: no.such {\n}\n\nnode b: transform {\n  value = b\n}\n\nnode a: {",
  });
  // A syntax error hides nothing else, and nothing is named twice.
  expect(broken.diagnostics.map(({ code, range }) => `${range?.start.line} ${code}`)).toEqual([
    "3 FLOW3001",
    "6 FLOW2005",
    "10 FLOW1006",
  ]);
  expect(broken.valid).toBe(false);
  const graph = await invoke<FlowReport>(server, "validate_flow", {
    dsl: '{ "id": "x", "nodes": [{ "id": "a", "type": "join" }] }',
  });
  expect(graph.diagnostics[0]?.fixes?.[0]?.edits[0]?.newText).toBe("flow 1 x\n\nnode a: join\n");
  expect(await invoke(server, "list_runs", {})).toMatchObject({ items: [] });
});

test("a provider and a service that the server has not are errors, of a check and of a run alike", async () => {
  const server = await serve();
  const dsl = `flow 1 stray

connection crm: bearer {
  service = "nowhere"
}

node ask: ai {
  provider = "opnai"
  modelId = "m"
  input = "hello"
}
`;
  const graph = parseFlow(dsl).graph;
  for (const flow of [{ dsl }, { graph }]) {
    const checked = await invoke<FlowReport>(server, "validate_flow", flow);
    expect(checked.valid).toBe(false);
    const messages = checked.diagnostics.map(({ message }) => message);
    expect(messages).toEqual([
      expect.stringContaining('"nowhere"'),
      expect.stringContaining('"opnai"'),
    ]);
    const { errors = [] } = await problemOf(await post(server, "/api/run", flow));
    expect(errors.map(({ message }) => message)).toEqual(messages);
  }
});

test("a valid flow says which schedules it proposes", async () => {
  const server = await serve();
  const dsl =
    'flow 1 report\n\nschedule nightly {\n  cron = "0 3 * * *"\n}\n\nnode done: log {\n  message = "done"\n}\n';
  const proposed = parseFlow(dsl).graph.schedules;
  expect(proposed).toMatchObject([{ name: "nightly", cron: "0 3 * * *" }]);
  for (const flow of [{ dsl }, { graph: parseFlow(dsl).graph }]) {
    expect(await invoke(server, "validate_flow", flow)).toMatchObject({ valid: true, proposed });
  }
  expect(await invoke(server, "list_schedules", {})).toMatchObject({ items: [] });
});

test("exactly one of graph and text is taken", async () => {
  const server = await serve();
  for (const body of [{}, { dsl: HELLO, graph }]) {
    expect((await post(server, "/api/flows/validate", body)).status).toBe(422);
    expect((await post(server, "/api/flows/convert", body)).status).toBe(422);
  }
});

test("text is printed in its canonical form, and refused when it does not parse", async () => {
  const server = await serve();
  const dsl = HELLO.replaceAll("\n\n", "\n");
  expect(await invoke(server, "format_flow", { dsl })).toEqual({ dsl: formatFlow(dsl).text });
  const response = await post(server, "/api/flows/format", { dsl: "flow 1 x\n\nnode a: {" });
  expect(response.status).toBe(422);
  expect(await problemOf(response)).toMatchObject({
    code: "flow_invalid",
    errors: [{ line: expect.any(Number) }],
  });
});

test("text becomes a graph, and a graph the same text", async () => {
  const server = await serve();
  expect(await invoke(server, "convert_flow", { dsl: HELLO })).toEqual({ graph });
  const { dsl } = await invoke<{ dsl: string }>(server, "convert_flow", { graph });
  expect(dsl).toBe(formatFlow(HELLO).text);
});
