/** The fourteen sequences of events of an `ai` node, on each wire, with the real packages. */

import { lines, toolType } from "@millrace/test-support/models";
import { describe, expect, test } from "vitest";
import { type AskSetup, ask, joined, node, overTheWire, SPARE, start } from "./support/flow.ts";
import { WIRE_NAMES } from "./support/providers.ts";
import type { WireAnswer } from "./support/wire-server.ts";

const HEAD = ["run.started", "node.started"];
const DONE = ["node.succeeded", "summary succeeded"];
const c = (n: number, target = 0, step = 1, purpose = "generate"): string =>
  `llm.started c${n} ${target} ${step} ${purpose}`;
const LIMITED: WireAnswer = { status: 429, headers: { "retry-after-ms": "5" }, body: {} };

describe.each(WIRE_NAMES)("%s", (wire) => {
  async function log(setup: Omit<AskSetup, "wire">): Promise<readonly string[]> {
    const { events } = await ask({ wire, ...setup });
    expect(overTheWire(events)).toEqual(events);
    return lines(joined(events));
  }

  test("1: a plain answer", async () => {
    expect(await log({ script: [{ text: ["Hel", "lo"] }] })).toEqual([
      ...HEAD,
      c(1),
      "llm.delta c1 text 0 Hello",
      "llm.finished c1 stop",
      ...DONE,
    ]);
  });

  test("2: limited twice, then the next model", async () => {
    const setup = { script: [LIMITED, LIMITED], spare: [{ text: ["ok"] }], fields: SPARE };
    expect(await log(setup)).toEqual([
      ...HEAD,
      c(1),
      "llm.failed c1 rate_limit 429 5 0 retry",
      c(2),
      "llm.failed c2 rate_limit 429 5 0 failover",
      c(3, 1),
      "llm.delta c3 text 0 ok",
      "llm.finished c3 stop",
      ...DONE,
    ]);
  });

  test("3: an answer that breaks off begins again from nothing", async () => {
    const setup = {
      script: [{ text: ["Hello", " from"], ending: "cut" as const }, { text: ["Hello", " you"] }],
    };
    expect(await log(setup)).toEqual([
      ...HEAD,
      c(1),
      'llm.delta c1 text 0 "Hello from"',
      "llm.failed c1 stream_cut 10 retry",
      c(2),
      'llm.delta c2 text 0 "Hello you"',
      "llm.finished c2 stop",
      ...DONE,
    ]);
  });

  const SCHEMA = `task = "extract"
outputSchema = { type: "object", properties: { label: { type: "string" } }, required: ["label"] }`;
  const WRONG = { text: ['{"label":1}'] };
  const problems = '[{"path":"/label","message":"must be string"}]';

  test("4: an answer that does not fit is repaired", async () => {
    const setup = {
      script: [WRONG, { text: ['```json\n{"label":', '"a"}\n```'] }],
      fields: SCHEMA,
    };
    expect(await log(setup)).toEqual([
      ...HEAD,
      c(1),
      'llm.delta c1 object 0 {"label":1}',
      "llm.finished c1 stop",
      `llm.rejected c1 ${problems} 1`,
      c(2, 0, 1, "repair"),
      'llm.delta c2 object 0 "```json\\n{\\"label\\":\\"a\\"}\\n```"',
      "llm.finished c2 stop",
      ...DONE,
    ]);
  });

  test("5: an answer that never fits fails the node", async () => {
    const round = (n: number, purpose: string, repair: number): string[] => [
      c(n, 0, 1, purpose),
      `llm.delta c${n} object 0 {"label":1}`,
      `llm.finished c${n} stop`,
      `llm.rejected c${n} ${problems} ${repair}`,
    ];
    expect(await log({ script: [WRONG, WRONG, WRONG], fields: SCHEMA })).toEqual([
      ...HEAD,
      ...round(1, "generate", 1),
      ...round(2, "repair", 2),
      ...round(3, "repair", 0),
      "node.failed ai_output_schema none",
      "summary failed",
    ]);
  });

  test("6: two tools at once; the next call waits for both", async () => {
    let release: () => void = () => undefined;
    const slow = toolType("slow", () => new Promise((go) => (release = () => go({ value: "s" }))));
    const quick = toolType("quick", () => ({ value: "q" }));
    const asked = await start({
      wire,
      types: [slow, quick],
      fields: 'tools = ["action:test.slow", "action:test.quick"]',
      script: [
        {
          toolCalls: [
            { name: "test_slow", args: "{}" },
            { name: "test_quick", args: "{}" },
          ],
        },
        { text: ["done"] },
      ],
    });
    await asked.until("tool.finished");
    release();
    await asked.end();
    expect(lines(joined(asked.events))).toEqual([
      ...HEAD,
      c(1),
      "llm.finished c1 tool_calls",
      "tool.started t1 action:test.slow c1",
      "tool.started t2 action:test.quick c1",
      "tool.finished t2 ok",
      "tool.finished t1 ok",
      c(2, 0, 2),
      "llm.delta c2 text 0 done",
      "llm.finished c2 stop",
      ...DONE,
    ]);
    expect(JSON.stringify(asked.main.requests[1]?.body)).toContain(String.raw`{\"value\":\"s\"}`);
  });

  const WRITES = { toolCalls: [{ name: "test_write", args: '{"q":"x"}' }] };
  const writing = () => {
    const type = toolType("write", () => ({ value: 1 }), "write");
    const setup = { wire, types: [type], fields: 'tools = ["action:test.write"]' };
    return { type, started: start({ ...setup, script: [WRITES, { text: ["done"] }] }) };
  };
  const ASKED = [
    ...HEAD,
    c(1),
    "llm.finished c1 tool_calls",
    'confirm.requested k1 "Allow action:test.write?" t1',
    'node.waiting confirm ["k1"]',
    'run.paused confirmation ["k1"]',
  ];
  const AFTER = [c(2, 0, 2), "llm.delta c2 text 0 done", "llm.finished c2 stop", ...DONE];

  test.each([
    ["7: a tool that a person allows", "approve", ["tool.finished t1 ok"], 1],
    ["8: a tool that a person rejects", "reject", ["tool.finished t1 denied confirm_rejected"], 0],
  ] as const)("%s", async (_, decision, finished, calls) => {
    const { type, started } = writing();
    const asked = await started;
    await asked.until("run.paused");
    await asked.run.confirm("k1", { decision });
    await asked.end();
    expect(lines(joined(asked.events))).toEqual([
      ...ASKED,
      `confirm.resolved k1 ${decision === "approve" ? "approved" : "rejected"}`,
      "run.resumed confirmation",
      "node.resumed",
      "tool.started t1 action:test.write c1",
      ...finished,
      ...AFTER,
    ]);
    expect(type.calls).toHaveLength(calls);
  });

  test("9: a cancel in the middle of an answer; the provider's socket is closed", async () => {
    const asked = await start({ wire, script: [{ text: ["ab!"], ending: "silence" }] });
    await asked.until("llm.delta");
    asked.run.cancel();
    await asked.end();
    expect(lines(joined(asked.events))).toEqual([
      ...HEAD,
      c(1),
      "llm.delta c1 text 0 ab!",
      "run.cancelling",
      "llm.failed c1 aborted 3 none",
      "node.cancelled",
      "summary cancelled",
    ]);
    await asked.main.requests[0]?.closed;
    await asked.main.idle();
  });

  test("10: a cancel while a person is asked", async () => {
    const asked = await writing().started;
    await asked.until("run.paused");
    asked.run.cancel();
    await asked.end();
    expect(lines(joined(asked.events))).toEqual([
      ...ASKED,
      "run.cancelling",
      "confirm.resolved k1 cancelled",
      "node.cancelled",
      "summary cancelled",
    ]);
  });

  test("11: every model fails; the node fails for the reason of the last call", async () => {
    const busy = { status: 500, body: { message: "secret-of-the-maker" } };
    const { events, summary } = await ask({
      wire,
      script: [busy, { ...busy, status: 503 }],
      spare: [{ status: 401, body: {} }],
      fields: SPARE,
    });
    expect(lines(events)).toEqual([
      ...HEAD,
      c(1),
      "llm.failed c1 server 500 0 retry",
      c(2),
      "llm.failed c2 server 503 0 failover",
      c(3, 1),
      "llm.failed c3 auth 401 0 none",
      "node.failed ai_auth none",
      "summary failed",
    ]);
    expect(summary.exitCode).toBe(5);
    expect(JSON.stringify(events)).not.toContain("secret-of-the-maker");
  });

  test("12: a model that keeps failing is passed over", async () => {
    const fields = `failoverRetries = 0\n${SPARE}`;
    const asked = await ask({
      wire,
      script: [{ status: 500, body: {} }],
      spare: [{ text: ["b"] }, { text: ["ok"] }],
      ai: { circuit: { failures: 1 } },
      flow: `${node(fields, { id: "one" })}${node(fields)}one -> ask\n`,
    });
    const shown = lines(joined(asked.events));
    expect(shown.slice(shown.indexOf("node.started"))).toEqual([
      "node.started",
      "log ai_circuit_open",
      c(3, 1),
      "llm.delta c3 text 0 ok",
      "llm.finished c3 stop",
      ...DONE,
    ]);
    expect(asked.main.requests).toHaveLength(1);
  });

  test("13: a check that fails asks again", async () => {
    const fields =
      'expect = [{ kind: "contains", value: "Order", onFail: "retry", message: "name the order" }]';
    const script = [{ text: ["none"] }, { text: ["Order 7"] }];
    expect(await log({ script, fields })).toEqual([
      ...HEAD,
      c(1),
      "llm.delta c1 text 0 none",
      "llm.finished c1 stop",
      "node.checked 0 contains false error",
      c(2, 0, 2),
      'llm.delta c2 text 0 "Order 7"',
      "llm.finished c2 stop",
      "node.checked 0 contains true error",
      ...DONE,
    ]);
  });

  test("14: another model goes on after a tool, which is not run again", async () => {
    const quick = toolType("quick", () => ({ value: 1 }));
    const setup = {
      types: [quick],
      fields: `tools = ["action:test.quick"]\nfailoverRetries = 0\n${SPARE}`,
      script: [
        { toolCalls: [{ name: "test_quick", args: "{}" }] },
        { text: ["par"], ending: "cut" as const },
      ],
      spare: [{ text: ["done"] }],
    } as const;
    expect(await log(setup)).toEqual([
      ...HEAD,
      c(1),
      "llm.finished c1 tool_calls",
      "tool.started t1 action:test.quick c1",
      "tool.finished t1 ok",
      c(2, 0, 2),
      "llm.delta c2 text 0 par",
      "llm.failed c2 stream_cut 3 failover",
      c(3, 1, 2),
      "llm.delta c3 text 0 done",
      "llm.finished c3 stop",
      ...DONE,
    ]);
    expect(quick.calls).toHaveLength(1);
  });
});
