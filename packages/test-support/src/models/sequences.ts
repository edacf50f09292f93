/** The fourteen sequences of events of an `ai` node, the same for every model that answers a script. */
import type { ExecutionEvent, Summary } from "@millrace/contracts";
import type { Run } from "@millrace/engine";
import { expect, test } from "vitest";
import { lines, toolType } from "./run.ts";

type ToolType = ReturnType<typeof toolType>;

export interface ScriptedAnswer {
  /** Pieces of text. */
  readonly text?: readonly string[];
  readonly tools?: readonly { readonly name: string; readonly input?: object }[];
  /** What follows the text instead of an end. */
  readonly ending?: "cut" | "silence";
  /** A refusal before anything comes. */
  readonly status?: 401 | 429 | 500 | 503;
}

/** A flow with the node `ask`, and the answers of its models. */
export interface Sequence {
  /** Answers of the node's own model. */
  readonly script: readonly ScriptedAnswer[];
  /** Answers of the model `s` of the provider `spare`. */
  readonly spare?: readonly ScriptedAnswer[];
  readonly fields?: string;
  readonly types?: readonly ToolType[];
  /** A node `one` with the same fields runs before `ask`, and one failure opens a circuit. */
  readonly isTwice?: true;
}

export interface SequenceRun {
  readonly run: Run;
  readonly events: readonly ExecutionEvent[];
  /** Resolves with the first event of a kind. */
  until(kind: string): Promise<void>;
  end(): Promise<Summary>;
}

interface Story extends Sequence {
  /** What happens while it runs. */
  readonly during?: (run: SequenceRun) => Promise<void>;
  /** Its log; with `isTwice` that of `ask`. */
  readonly log: readonly string[];
  /** Calls of the first of `types`. */
  readonly calls?: number;
}

const HEAD = ["run.started", "node.started"];
const DONE = ["node.succeeded", "summary succeeded"];
const SPARE = 'failover = [{ provider: "spare", modelId: "s" }]';
const call = (n: number, target = 0, step = 1, purpose = "generate"): string =>
  `llm.started c${n} ${target} ${step} ${purpose}`;
/** The call that answers well with this text. */
const answered = (n: number, text: string): string[] => [
  `llm.delta c${n} text 0 ${text}`,
  `llm.finished c${n} stop`,
];
/** A tool that was called by the first call, and is told to the second. */
const afterTools = [call(2, 0, 2), ...answered(2, "done"), ...DONE];

const SCHEMA = `task = "extract"
outputSchema = { type: "object", properties: { label: { type: "string" } }, required: ["label"] }`;
const WRONG = { text: ['{"label":1}'] };
const rejected = (n: number, purpose: string, repair: number): string[] => [
  call(n, 0, 1, purpose),
  `llm.delta c${n} object 0 {"label":1}`,
  `llm.finished c${n} stop`,
  `llm.rejected c${n} [{"path":"/label","message":"must be string"}] ${repair}`,
];

const ASKED = [
  ...HEAD,
  call(1),
  "llm.finished c1 tool_calls",
  'confirm.requested k1 "Allow action:test.write?" t1',
  'node.waiting confirm ["k1"]',
  'run.paused confirmation ["k1"]',
];

/** A tool that a person has to allow; `act` is the answer. */
function asking(act: (run: Run) => unknown): Omit<Story, "log"> {
  return {
    types: [toolType("write", () => ({ value: 1 }), "write")],
    fields: 'tools = ["action:test.write"]',
    script: [{ tools: [{ name: "test_write", input: { q: "x" } }] }, { text: ["done"] }],
    during: async (run) => {
      await run.until("run.paused");
      expect(lines(run.events)).toEqual(ASKED);
      await act(run.run);
    },
  };
}

/** By number and name. `retryAfterMs`: the delay that a model with the status 429 asks for. */
const STORIES: { readonly [name: string]: (retryAfterMs: number) => Story } = {
  "1: a plain answer": () => ({
    script: [{ text: ["Hel", "lo"] }],
    log: [...HEAD, call(1), ...answered(1, "Hello"), ...DONE],
  }),
  "2: limited twice, then the next model": (retryAfterMs) => ({
    script: [{ status: 429 }, { status: 429 }],
    spare: [{ text: ["ok"] }],
    fields: SPARE,
    log: [
      ...HEAD,
      call(1),
      `llm.failed c1 rate_limit 429 ${retryAfterMs} 0 retry`,
      call(2),
      `llm.failed c2 rate_limit 429 ${retryAfterMs} 0 failover`,
      call(3, 1),
      ...answered(3, "ok"),
      ...DONE,
    ],
  }),
  "3: an answer that breaks off begins again from nothing": () => ({
    script: [{ text: ["Hello", " from"], ending: "cut" }, { text: ["Hello", " you"] }],
    log: [
      ...HEAD,
      call(1),
      'llm.delta c1 text 0 "Hello from"',
      "llm.failed c1 stream_cut 10 retry",
      call(2),
      ...answered(2, '"Hello you"'),
      ...DONE,
    ],
  }),
  "4: an answer that does not fit is repaired": () => ({
    script: [WRONG, { text: ['```json\n{"label":', '"a"}\n```'] }],
    fields: SCHEMA,
    log: [
      ...HEAD,
      ...rejected(1, "generate", 1),
      call(2, 0, 1, "repair"),
      'llm.delta c2 object 0 "```json\\n{\\"label\\":\\"a\\"}\\n```"',
      "llm.finished c2 stop",
      ...DONE,
    ],
  }),
  "5: an answer that never fits fails the node": () => ({
    script: [WRONG, WRONG, WRONG],
    fields: SCHEMA,
    log: [
      ...HEAD,
      ...rejected(1, "generate", 1),
      ...rejected(2, "repair", 2),
      ...rejected(3, "repair", 0),
      "node.failed ai_output_schema none",
      "summary failed",
    ],
  }),
  "6: two tools at once; the next call waits for both": () => {
    let release: () => void = () => undefined;
    const waits = new Promise((go) => (release = () => go({ value: "s" })));
    return {
      types: [toolType("slow", () => waits), toolType("quick", () => ({ value: "q" }))],
      fields: 'tools = ["action:test.slow", "action:test.quick"]',
      script: [{ tools: [{ name: "test_slow" }, { name: "test_quick" }] }, { text: ["done"] }],
      during: async (run) => {
        await run.until("tool.finished");
        release();
      },
      log: [
        ...HEAD,
        call(1),
        "llm.finished c1 tool_calls",
        "tool.started t1 action:test.slow c1",
        "tool.started t2 action:test.quick c1",
        "tool.finished t2 ok",
        "tool.finished t1 ok",
        ...afterTools,
      ],
    };
  },
  "7: a tool that a person allows": () => ({
    ...asking((run) => run.confirm("k1", { decision: "approve" })),
    log: [
      ...ASKED,
      "confirm.resolved k1 approved",
      "run.resumed confirmation",
      "node.resumed",
      "tool.started t1 action:test.write c1",
      "tool.finished t1 ok",
      ...afterTools,
    ],
    calls: 1,
  }),
  "8: a tool that a person rejects; the model is told": () => ({
    ...asking((run) => run.confirm("k1", { decision: "reject", comment: "Not today." })),
    log: [
      ...ASKED,
      "confirm.resolved k1 rejected",
      "run.resumed confirmation",
      "node.resumed",
      "tool.started t1 action:test.write c1",
      "tool.finished t1 denied confirm_rejected",
      ...afterTools,
    ],
    calls: 0,
  }),
  "9: a cancel in the middle of an answer": () => ({
    script: [{ text: ["ab!"], ending: "silence" }],
    during: async (run) => {
      await run.until("llm.delta");
      run.run.cancel();
    },
    log: [
      ...HEAD,
      call(1),
      "llm.delta c1 text 0 ab!",
      "run.cancelling",
      "llm.failed c1 aborted 3 none",
      "node.cancelled",
      "summary cancelled",
    ],
  }),
  "10: a cancel while a person is asked": () => ({
    ...asking((run) => run.cancel()),
    log: [
      ...ASKED,
      "run.cancelling",
      "confirm.resolved k1 cancelled",
      "node.cancelled",
      "summary cancelled",
    ],
  }),
  "11: every model fails; the node fails for the reason of the last call": () => ({
    script: [{ status: 500 }, { status: 503 }],
    spare: [{ status: 401 }],
    fields: SPARE,
    log: [
      ...HEAD,
      call(1),
      "llm.failed c1 server 500 0 retry",
      call(2),
      "llm.failed c2 server 503 0 failover",
      call(3, 1),
      "llm.failed c3 auth 401 0 none",
      "node.failed ai_auth none",
      "summary failed",
    ],
  }),
  "12: a model that keeps failing is passed over": () => ({
    script: [{ status: 500 }],
    spare: [{ text: ["b"] }, { text: ["ok"] }],
    fields: `failoverRetries = 0\n${SPARE}`,
    isTwice: true,
    log: ["node.started", "log ai_circuit_open", call(3, 1), ...answered(3, "ok"), ...DONE],
  }),
  "13: a check that fails asks again": () => ({
    script: [{ text: ["none"] }, { text: ["Order 7"] }],
    fields:
      'expect = [{ kind: "contains", value: "Order", onFail: "retry", message: "name the order" }]',
    log: [
      ...HEAD,
      call(1),
      ...answered(1, "none"),
      "node.checked 0 contains false error",
      call(2, 0, 2),
      ...answered(2, '"Order 7"'),
      "node.checked 0 contains true error",
      ...DONE,
    ],
  }),
  "14: another model goes on after a tool, which is not run again": () => ({
    types: [toolType("quick", () => ({ value: 1 }))],
    fields: `tools = ["action:test.quick"]\nfailoverRetries = 0\n${SPARE}`,
    script: [{ tools: [{ name: "test_quick" }] }, { text: ["par"], ending: "cut" }],
    spare: [{ text: ["done"] }],
    log: [
      ...HEAD,
      call(1),
      "llm.finished c1 tool_calls",
      "tool.started t1 action:test.quick c1",
      "tool.finished t1 ok",
      call(2, 0, 2),
      "llm.delta c2 text 0 par",
      "llm.failed c2 stream_cut 3 failover",
      call(3, 1, 2),
      ...answered(3, "done"),
      ...DONE,
    ],
    calls: 1,
  }),
};

/**
 * Tests of the sequences. `start` runs one with the models at hand; `checks` are further checks of a sequence, by its number,
 * after its end.
 */
export function testSequences<R extends SequenceRun>({
  start,
  retryAfterMs,
  checks,
}: {
  readonly start: (sequence: Sequence) => Promise<R>;
  /** The delay that a model with the status 429 asks for. */
  readonly retryAfterMs: number;
  readonly checks: { readonly [number: number]: (run: R, summary: Summary) => unknown };
}): void {
  test.each(Object.entries(STORIES))("%s", async (name, make) => {
    const { during, log, calls, ...sequence } = make(retryAfterMs);
    const run = await start(sequence);
    await during?.(run);
    const summary = await run.end();
    const shown = lines(joined(run.events));
    expect(sequence.isTwice ? shown.slice(shown.indexOf("node.started")) : shown).toEqual(log);
    if (calls !== undefined) expect(sequence.types?.[0]?.calls).toHaveLength(calls);
    expect(JSON.stringify(run.events)).not.toContain("secret");
    await checks[Number.parseInt(name, 10)]?.(run, summary);
  });
}

/** A log with the deltas of one call and channel joined: how many there are is a matter of time. */
export function joined(events: readonly ExecutionEvent[]): ExecutionEvent[] {
  const all: ExecutionEvent[] = [];
  for (const event of events) {
    const last = all.at(-1);
    if (
      event.kind === "llm.delta" &&
      last?.kind === "llm.delta" &&
      last.call === event.call &&
      last.channel === event.channel
    ) {
      all[all.length - 1] = { ...last, text: last.text + event.text };
    } else all.push(event);
  }
  return all;
}
