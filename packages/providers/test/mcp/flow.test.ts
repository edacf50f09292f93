/** Tools of real servers in a flow: called, confirmed, and gone with the run, however it ends. */

import { aiSettings } from "@millrace/ai";
import { assertLog, type ExecutionEvent } from "@millrace/contracts";
import { createEngine } from "@millrace/engine";
import {
  createScriptedProvider,
  type McpServerSettings,
  readAiSettings,
  type ScriptEntry,
} from "@millrace/providers";
import { planOf } from "@millrace/test-support/flows";
import { expect, onTestFinished, test } from "vitest";
import { openAi } from "../support/flow.ts";
import { everything, processesWith, program } from "./support.ts";

const FLOW = (tool: string): string => `node ask: ai {
  provider = "scripted"
  modelId = "m"
  input = "hi"
  tools = ["mcp:s/${tool}"]
}
`;

/** Starts a flow whose model calls a tool of the server `s`. */
async function start(server: McpServerSettings, tool: string, script: readonly ScriptEntry[]) {
  const settings = readAiSettings({ mcpServers: { s: { ...server, trusted: [tool] } } });
  const { host, ai, close } = openAi(settings);
  const model = createScriptedProvider(script);
  // The scripted provider needs no key.
  const credentials = { resolve: async () => ({}) };
  const engine = createEngine({
    host,
    settings: [aiSettings({ ...ai, providers: [model], credentials })],
  });
  onTestFinished(async () => {
    await engine.close({ graceMs: 0 });
    await close();
  });
  const run = engine.run(await planOf(FLOW(tool)), {});
  const events: ExecutionEvent[] = [];
  const reading = (async () => {
    for await (const batch of run.batches()) events.push(...batch);
  })();
  return {
    run,
    model,
    close,
    async end() {
      const summary = await run.result;
      await reading;
      assertLog(events);
      return { summary, events };
    },
  };
}

const call = (tool: string, args: object): ScriptEntry => ({ toolCalls: [{ tool, args }] });

test("a model calls a tool of a real server and reads its answer; the server is gone with the run", async () => {
  const script = [call("s__echo", { message: "ahoy" }), { text: "done" }];
  const { end, model, close } = await start(everything(["echo"], "flow-ok"), "echo", script);
  const { summary, events } = await end();
  expect(summary.status).toBe("succeeded");
  expect(events.find(({ kind }) => kind === "tool.finished")).toMatchObject({ outcome: "ok" });
  expect(model.calls[0]?.tools?.map(({ name }) => name)).toEqual(["s__echo"]);
  expect(JSON.stringify(model.calls[1]?.prompt)).toContain("Echo: ahoy");
  await close();
  expect(processesWith("flow-ok")).toEqual([]);
});

test("a server that cannot be understood is told to the model, and the run goes on or fails by the flow", async () => {
  const junk = program("console.log('hello'); setInterval(() => {}, 1000)");
  const { end, close } = await start(junk, "t", [call("s__t", {}), { text: "done" }]);
  const { events } = await end();
  expect(JSON.stringify(events)).toContain("mcp_protocol");
  await close();
  expect(processesWith("console.log('hello')")).toEqual([]);
});

test("a run that is cancelled while a tool works leaves no server behind", async () => {
  const tool = "trigger-long-running-operation";
  const script = [call(`s__${tool}`, { duration: 600, steps: 6_000 })];
  const { run, end, close } = await start(everything([tool], "flow-cancelled"), tool, script);
  for await (const batch of run.batches()) {
    if (batch.some(({ kind }) => kind === "node.progress" || kind === "tool.started")) break;
  }
  run.cancel();
  const { summary, events } = await end();
  expect(summary.status).toBe("cancelled");
  expect(events.find(({ kind }) => kind === "tool.finished")).toMatchObject({
    outcome: "cancelled",
  });
  await close();
  expect(processesWith("flow-cancelled")).toEqual([]);
});
