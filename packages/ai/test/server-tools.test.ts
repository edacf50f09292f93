/** Tools of servers: what of them an `ai` node is shown, calls and ends. */
import { type AiSourceTool, type AiToolSource, NodeError } from "@millrace/contracts";
import { one } from "@millrace/test-support/flows";
import { ask, type Entry, resultsOf, startAsk } from "@millrace/test-support/models";
import { expect, test } from "vitest";

const call = (name: string, input: unknown = {}): Entry => ({ tools: [{ name, input }] });
const DONE: Entry = { text: "done" };

const READ: AiSourceTool = {
  name: "read",
  description: "Reads.",
  inputSchema: { type: "object", properties: { p: { type: "string" } }, patternProperties: {} },
  trusted: true,
};

function source(answer: () => unknown): AiToolSource & { log: unknown[] } {
  const log: unknown[] = [];
  return {
    log,
    list: async (server) => {
      log.push(["list", server]);
      return [READ, { ...READ, name: "write", trusted: false }];
    },
    call: async (server, { tool, args }, { runId, timeoutMs }) => {
      log.push(["call", server, tool, args, typeof runId, timeoutMs]);
      return (await answer()) as never;
    },
    endRun: (runId) => void log.push(["end", runId]),
  };
}

test("tools of a server: listed once, trusted ones run without a question, and the run's end is told", async () => {
  const tools = source(() => ({ found: true }));
  const run = { runId: "r1" };
  const { mock } = await ask(
    'tools = ["mcp:fs/read", "mcp:fs/write"]',
    [call("fs__read", { p: "x" }), DONE],
    { ai: { tools }, run },
  );
  expect(mock.calls[0]?.tools?.map(({ name }) => name)).toEqual(["fs__read", "fs__write"]);
  expect(tools.log).toEqual([
    ["list", "fs"],
    ["call", "fs", "read", { p: "x" }, "string", 60_000],
    ["end", "r1"],
  ]);
  const asked = await startAsk('tools = ["mcp:fs/write"]', [call("fs__write")], { ai: { tools } });
  expect(one(asked.events, "confirm.requested").prompt).toBe("Allow mcp:fs/write?");
  asked.run.cancel();
  await asked.end();
});

test("a server that fails a call is a result; one without the tool, and none at all, fail the node", async () => {
  const tools = source(() => {
    throw new NodeError("mcp_exited", "the server has ended");
  });
  const { mock } = await ask('tools = ["mcp:fs/read"]', [call("fs__read"), DONE], {
    ai: { tools },
  });
  expect(resultsOf(mock).map(({ output }) => output)).toEqual([
    { type: "error-text", value: "Tool failed: mcp_exited: the server has ended" },
  ]);
  const logged = async (level: string) => {
    const { events } = await ask(
      `auditContent = "${level}"\ntools = ["mcp:fs/read"]`,
      [call("fs__read"), DONE],
      { ai: { tools } },
    );
    return one(events, "tool.finished").error?.message;
  };
  expect([await logged("hash"), await logged("full")]).toEqual([
    "the server's tool failed",
    "the server has ended",
  ]);
  const missing = await ask('tools = ["mcp:fs/other"]', [DONE], { ai: { tools } });
  expect(missing.summary.error).toMatchObject({ code: "field_invalid" });
  const none = await ask('tools = ["mcp:fs/read"]', [DONE]);
  expect(none.summary.error).toMatchObject({ code: "field_invalid" });
  expect(none.mock.calls).toEqual([]);
});
