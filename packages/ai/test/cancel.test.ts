/** A node that is stopped stops at once, wherever it is. */
import { aiSettings } from "@millrace/ai";
import { assertLog, type ExecutionEvent, type Summary } from "@millrace/contracts";
import { createEngine } from "@millrace/engine";
import { kinds, planOf, start } from "@millrace/test-support/flows";
import {
  type Entry,
  flowOf,
  lines,
  scripted,
  startAsk,
  toolType,
} from "@millrace/test-support/models";
import { expect, test } from "vitest";

const SCRIPT: readonly Entry[] = [
  { text: "a", tools: [{ name: "test_r" }, { name: "test_w" }] },
  { text: '{"x":"no"}' },
  { text: '{"x":1}' },
];
const FIELDS = `task = "extract"
outputSchema = { type: "object", properties: { x: { type: "integer" } }, required: ["x"] }
tools = ["action:test.r", "action:test.w"]
expect = [output.x == 1]`;

/** A tool that takes a turn of the event loop. */
const later = (): Promise<unknown> => new Promise((go) => setImmediate(() => go({ value: 1 })));
const approve = async () => ({ decision: "approve" }) as const;

/** Runs the flow on the clock of the machine and cancels it once an event with this number was read. */
async function cancelAt(at: number): Promise<{ summary: Summary; events: ExecutionEvent[] }> {
  const types = [toolType("r", later), toolType("w", later, "write")];
  const plan = await planOf(flowOf(FIELDS), { types });
  const mock = scripted(SCRIPT, { slow: true });
  const run = createEngine({ settings: [aiSettings({ providers: [mock] })] }).run(
    plan,
    {},
    { confirm: approve },
  );
  const events: ExecutionEvent[] = [];
  for await (const batch of run.batches()) {
    events.push(...batch);
    if (batch.some(({ seq }) => seq >= at)) run.cancel();
  }
  assertLog(events);
  return { summary: await run.result, events };
}

test("a cancel after any event: nothing begins after it, and all that is open is closed", async () => {
  const { events: whole } = await cancelAt(Number.POSITIVE_INFINITY);
  expect(whole.at(-1)).toMatchObject({ kind: "summary", status: "succeeded" });
  let cancelled = 0;
  for (let at = 1; at < whole.length; at += 1) {
    const { summary, events } = await cancelAt(at);
    if (summary.status !== "cancelled") continue; // its last event was on the way already
    cancelled += 1;
    const from = events.findIndex(({ kind }) => kind === "run.cancelling");
    const after = kinds(events.slice(from));
    expect(after, `event ${at}`).not.toContain("llm.started");
    expect(after, `event ${at}`).not.toContain("tool.started");
  }
  expect(cancelled).toBeGreaterThan(whole.length / 2);
});

test.each(["hang", "tool", "wait"] as const)(
  "a cancel while it is in %s ends it at once",
  async (where) => {
    const script: readonly Entry[] =
      where === "hang"
        ? [{ text: "a", after: "hang" }]
        : where === "wait"
          ? [{ after: "cut" }, { text: "b" }]
          : [{ tools: [{ name: "test_h" }] }];
    let aborted = 0;
    const hanging = toolType("h", () => new Promise(() => {}));
    const observed = {
      ...hanging,
      run: (_args: unknown, ctx: { signal: AbortSignal }) =>
        new Promise((_resolve, reject) =>
          ctx.signal.addEventListener("abort", () => {
            aborted += 1;
            reject(new Error("stopped"));
          }),
        ),
    };
    const started = await startAsk(
      where === "tool" ? 'tools = ["action:test.h"]' : "failoverDelayMs = 5000",
      script,
      { types: [observed as unknown as typeof hanging] },
    );
    const before = started.clock.now();
    started.run.cancel();
    const summary = await started.end();
    expect(summary).toMatchObject({ status: "cancelled" });
    expect(started.clock.now() - before).toBeLessThanOrEqual(50);
    if (where === "hang") expect(started.mock.aborted).toEqual(["signal 1", "reader 1"]);
    if (where === "tool") {
      expect(aborted).toBe(1);
      expect(lines(started.events)).toContain("tool.finished t1 cancelled");
    }
  },
);

test("a provider that never says what it can, and a key that never comes, hold nobody up", async () => {
  const never = (): Promise<never> => new Promise(() => {});
  const silent = { ...scripted([]), capabilities: never };
  for (const ai of [
    { providers: [silent] },
    { providers: [scripted([])], credentials: { resolve: never } },
  ]) {
    const started = await start(flowOf(""), { engine: { settings: [aiSettings(ai)] } });
    started.run.cancel();
    expect((await started.end()).status).toBe("cancelled");
    expect(kinds(started.events)).not.toContain("llm.started");
  }
});

test("twenty runs that are aborted at once leave no timer, no open stream and no rejection that nobody handles", async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", note);
  const all = await Promise.all(
    Array.from({ length: 20 }, () => startAsk("", [{ text: "abc", after: "hang" }])),
  );
  for (const { run } of all) run.cancel();
  for (const one of all) {
    expect((await one.end()).status).toBe("cancelled"); // `end` also refuses a timer that is left
    expect(one.mock.aborted).toEqual(["signal 1", "reader 1"]);
  }
  await new Promise((go) => setImmediate(go));
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});
