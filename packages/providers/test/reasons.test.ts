/** Every reason for which a call fails, made by a fault of a real server, with what follows it and how often was asked. */
import type { LlmFailed } from "@millrace/contracts";
import { describe, expect, test } from "vitest";
import type { Wire } from "../../testkit/src/providers/wires.ts";
import { ask, SPARE } from "./support/flow.ts";
import { WIRE_NAMES } from "./support/providers.ts";
import type { WireAnswer } from "./support/wire-server.ts";

/** What is decided after the first try, after the second, … */
type Nexts = readonly ("retry" | "failover" | "none")[];

interface Fault {
  readonly says: string;
  readonly answer: WireAnswer | ((wire: Wire) => WireAnswer);
  readonly reason: string;
  readonly status?: number;
  readonly nexts: Nexts;
  readonly fields?: string;
}

const AGAIN: Nexts = ["retry", "failover"];
const OVER: Nexts = ["failover"];
const NEVER: Nexts = ["none"];

const status = (
  code: number,
  reason: string,
  nexts: Nexts,
  body: WireAnswer["body"] = {},
): Fault => ({
  says: `${code}${body === undefined || Object.keys(body).length === 0 ? "" : ` ${JSON.stringify(body)}`}`,
  answer: { status: code, body },
  reason,
  status: code,
  nexts,
});

const FAULTS: readonly Fault[] = [
  status(429, "rate_limit", AGAIN),
  status(429, "quota", OVER, { code: "insufficient_quota" }),
  status(402, "quota", OVER),
  status(409, "server", AGAIN),
  status(500, "server", AGAIN),
  status(529, "server", AGAIN),
  status(502, "server", AGAIN, "<html><h1>Bad gateway</h1></html>"),
  status(408, "timeout", AGAIN),
  status(404, "not_found", OVER),
  status(401, "auth", NEVER),
  status(403, "auth", NEVER),
  status(413, "context_length", NEVER),
  status(400, "context_length", NEVER, { code: "context_length_exceeded" }),
  status(400, "content_filter", NEVER, { code: "content_policy_violation" }),
  status(400, "bad_request", NEVER, { code: "unsupported_parameter" }),
  status(422, "bad_request", NEVER),
  {
    says: "an HTML page with status 200",
    answer: { body: "<html>sign in</html>" },
    reason: "server",
    nexts: AGAIN,
  },
  {
    says: "a connection that is closed before an answer",
    answer: { cut: true },
    reason: "network",
    nexts: AGAIN,
  },
  {
    says: "a connection that breaks before any text",
    answer: { ending: "cut", afterEvents: 1 },
    reason: "network",
    nexts: AGAIN,
  },
  {
    says: "a connection that breaks in the text",
    answer: { text: ["a"], ending: "cut" },
    reason: "stream_cut",
    nexts: AGAIN,
  },
  {
    says: "an end without a word that it is one",
    answer: { text: ["a"], ending: "end" },
    reason: "stream_cut",
    nexts: AGAIN,
  },
  {
    says: "an error in the stream, in the text",
    answer: { text: ["a"], ending: "error" },
    reason: "stream_cut",
    nexts: AGAIN,
  },
  {
    says: "silence before an answer",
    answer: { silence: true },
    reason: "timeout",
    nexts: AGAIN,
    fields: "firstTokenMs = 1000",
  },
  {
    says: "silence in the text",
    answer: { text: ["a"], ending: "silence" },
    reason: "stream_cut",
    nexts: AGAIN,
    fields: "idleMs = 1000",
  },
  {
    says: "an answer that a filter has emptied",
    answer: { finish: "content_filter" },
    reason: "content_filter",
    nexts: NEVER,
  },
];

describe.each(WIRE_NAMES)("%s", (wire) => {
  test.each(FAULTS)("$says is $reason", async ({ answer, reason, status: code, nexts, fields }) => {
    const given = typeof answer === "function" ? answer(wire) : answer;
    const { events, main, spare, summary } = await ask({
      wire,
      script: nexts.map(() => given),
      spare: [{ text: ["ok"] }],
      fields: `${SPARE}\n${fields ?? ""}`,
    });
    const failed = events.filter((event): event is LlmFailed => event.kind === "llm.failed");
    expect(failed.map(({ next }) => next)).toEqual(nexts);
    for (const each of failed) {
      expect(each.reason).toBe(reason);
      if (code !== undefined) expect(each.status).toBe(code);
    }
    // No package asks again by itself.
    expect(main.requests).toHaveLength(nexts.length);
    expect(spare.requests).toHaveLength(nexts.at(-1) === "failover" ? 1 : 0);
    expect(summary.status).toBe(nexts.at(-1) === "failover" ? "succeeded" : "failed");
    if (summary.status === "failed") expect(summary.error?.code).toBe(`ai_${reason}`);
  });

  test("a wait that the server asks for and that is too long is not waited for", async () => {
    const answer = { status: 429, headers: { "retry-after": "3600" }, body: {} };
    const { events } = await ask({
      wire,
      script: [answer],
      spare: [{ text: ["ok"] }],
      fields: SPARE,
    });
    expect(events.find(({ kind }) => kind === "llm.failed")).toMatchObject({
      retryAfterMs: 3_600_000,
      next: "failover",
    });
  });

  test("an address that the policy denies is never asked, nor is another model", async () => {
    const { events, main, spare, summary } = await ask({
      wire,
      script: [],
      fields: SPARE,
      engine: { egress: { deny: [{ cidr: "127.0.0.0/8" }] } },
    });
    expect(events.find(({ kind }) => kind === "llm.failed")).toMatchObject({
      reason: "egress",
      next: "none",
    });
    expect(summary.error?.code).toBe("egress_denied");
    expect([...main.requests, ...spare.requests]).toEqual([]);
  });

  test("arguments of a tool that are no JSON are told to the model", async () => {
    const { events, main } = await ask({
      wire,
      fields: 'tools = ["action:http.request"]',
      script: [{ toolCalls: [{ name: "http_request", args: '{"url":' }] }, { text: ["sorry"] }],
    });
    expect(events.find(({ kind }) => kind === "tool.finished")).toMatchObject({
      outcome: "error",
      error: { code: "bad_args" },
    });
    expect(main.requests).toHaveLength(2);
  });
});
