/** One flow, four ways in: the events are the same, whoever asked for them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  checkLog,
  type ExecutionEvent,
  type FlowGraph,
  parseEventStrict,
} from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";
import { compileFlow, createEngine } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { createStandardRegistry } from "@millrace/server/registry";
import { beforeAll, expect, test } from "vitest";
import { golden } from "../src/commands/test/normal.ts";
import { events, example, postJson, scratch, start, urlOf } from "./cli.ts";
import { millrace } from "./inside.ts";

const folder = example("03-csv-report");
const text = readFileSync(join(folder, "csv-report.flow"), "utf8");
const orders = readFileSync(join(folder, "orders.csv"), "utf8");
let graph: FlowGraph;

beforeAll(() => {
  const parsed = parseFlow(text);
  expect(parsed.diagnostics).toEqual([]);
  graph = parsed.graph;
});

/** The log without what tells the surfaces apart: who asked, when, and digests that only a journal needs. */
function same(log: readonly ExecutionEvent[]): string {
  expect(checkLog(log, { graph })).toEqual([]);
  const bare = log.map((event) => {
    if (event.kind !== "node.started") return event;
    const { inputs: _inputs, ...rest } = event;
    return rest;
  });
  return golden(bare, graph).replace(/"trigger":"\w+"/, '"trigger":"any"');
}

async function onTheCommandLine(): Promise<ExecutionEvent[]> {
  const cwd = scratch({ "csv-report.flow": text, "orders.csv": orders });
  return events((await millrace(["run", "csv-report.flow", "--json"], { cwd })).stdout);
}

async function inProcess(): Promise<ExecutionEvent[]> {
  const compiled = await compileFlow(graph, { registry: createStandardRegistry() });
  if (!compiled.ok) throw new Error("the example does not compile");
  const root = scratch({ "orders.csv": orders });
  const engine = createEngine({ host: createNodeHost(), files: { root } });
  const log: ExecutionEvent[] = [];
  for await (const batch of engine.run(compiled.plan).batches()) log.push(...batch);
  await engine.close();
  return log;
}

/** What \`POST /api/run\` streams, and the raw bytes of it. */
async function overHttp(body: object): Promise<{ log: ExecutionEvent[]; bytes: string }> {
  const cwd = scratch({ "orders.csv": orders });
  const home = scratch({ "config.json": JSON.stringify({ files: { root: cwd } }) });
  const serve = start(["serve", "--port", "0", "--json", "--home", home], { cwd });
  const url = await urlOf(serve);
  const response = await postJson(`${url}/api/run`, body);
  const bytes = await response.text();
  serve.child.kill("SIGTERM");
  await serve.ended;
  const lines = bytes.split("\n\n").filter((frame) => frame.startsWith("data: "));
  const log = lines.map((line) => parseEventStrict(line.slice("data: ".length)));
  return { log: log as ExecutionEvent[], bytes };
}

test("the command line, a graph and a text over HTTP, and an embedded engine make the same events", async () => {
  const logs = [
    await onTheCommandLine(),
    await inProcess(),
    (await overHttp({ graph })).log,
    (await overHttp({ dsl: text })).log,
  ].map(same);
  expect(logs[0]).toContain('"kind":"summary"');
  expect(logs.slice(1)).toEqual([logs[0], logs[0], logs[0]]);
});

test("a frame over HTTP is data and a line as the command line writes it, and nothing else", async () => {
  const { bytes, log } = await overHttp({ dsl: text });
  const lines = log.map((event) => `data: ${JSON.stringify(event)}\n\n`);
  expect(bytes).toBe(lines.join(""));
});
