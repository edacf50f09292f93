/** Snapshots for many readers of one run: an event is folded once. */
import {
  createView,
  type ExecutionEvent,
  foldEvents,
  type RunViewJson,
  type StoredEvent,
  serialiseEvent,
  viewToJson,
  withholdContent,
} from "@millrace/contracts";
import { legalLog } from "@millrace/test-support/logs";
import { expect, test } from "vitest";
import { createRunViews, type RunsSource } from "../src/runs/run-views.ts";

interface Run {
  createdAt: string;
  status: "running" | "succeeded";
  readonly log: StoredEvent[];
}

/** Runs in memory; `read` counts the events that were handed out. */
function runsInMemory() {
  const runs = new Map<string, Run>();
  const counted = { read: 0 };
  const source: RunsSource = {
    journal: {
      async *read(runId, after) {
        const rest = runs.get(runId)?.log.slice(after) ?? [];
        for (const event of rest) {
          counted.read += 1;
          yield [event];
        }
      },
    },
    async summary(runId) {
      const run = runs.get(runId);
      return run === undefined ? null : { ...run, lastSeq: run.log.length };
    },
  };
  return { runs, counted, source };
}

const ENCODER = new TextEncoder();

function stored(events: readonly ExecutionEvent[], runId: string): StoredEvent[] {
  return events.map((event) => {
    const line = ENCODER.encode(serialiseEvent({ ...event, runId } as ExecutionEvent));
    return { seq: event.seq, kind: event.kind, line };
  });
}

const { events } = legalLog(23, { maxNodes: 12 });

/** The state after `seq` events, as the whole fold gives it. */
function folded(seq: number, runId: string): RunViewJson {
  const view = createView(runId);
  for (const event of events.slice(0, seq)) foldEvents(view, { ...event, runId } as ExecutionEvent);
  return JSON.parse(JSON.stringify(viewToJson(view)));
}

const viewOf = (event: StoredEvent | undefined): unknown =>
  event && JSON.parse(new TextDecoder().decode(event.line)).view;

test("of a live run each event is folded once, whoever asks and however often", async () => {
  const { runs, counted, source } = runsInMemory();
  const log = stored(events, "r");
  const run: Run = { createdAt: "t", status: "running", log: log.slice(0, 20) };
  runs.set("r", run);
  const views = createRunViews();
  const first = await Promise.all([views.snapshot(source, "r"), views.snapshot(source, "r")]);
  expect(counted.read).toBe(20);
  expect(first[1]).toBe(first[0]);
  expect(viewOf(first[0])).toEqual(folded(20, "r"));
  run.log.push(...log.slice(20, 25));
  expect(viewOf(await views.snapshot(source, "r"))).toEqual(folded(25, "r"));
  expect(counted.read).toBe(25);
  run.log.push(...log.slice(25));
  run.status = "succeeded";
  const last = await views.snapshot(source, "r");
  expect(last?.seq).toBe(events.length - 1);
  expect(viewOf(last)).toEqual(folded(events.length - 1, "r"));
  const whole = 25 + events.length - 1; // once more when it has ended: the log was sealed
  expect(counted.read).toBe(whole);
  expect(await views.snapshot(source, "r")).toBe(last);
  expect(counted.read).toBe(whole);
});

test("what is withheld when a run ends is not shown by whoever looked at it before", async () => {
  const { runs, source } = runsInMemory();
  const log = stored(events, "r");
  const run: Run = { createdAt: "t", status: "running", log: log.slice(0, -1) };
  runs.set("r", run);
  const views = createRunViews();
  await views.snapshot(source, "r");
  const sealed = events.map((event) => withholdContent(event as ExecutionEvent));
  run.log.splice(0, run.log.length, ...stored(sealed, "r"));
  run.status = "succeeded";
  const after = await views.snapshot(source, "r");
  expect(viewOf(after)).toEqual(viewOf(await createRunViews().snapshot(source, "r")));
});

test("views of runs that wait for months are bounded, too", async () => {
  const { runs, counted, source } = runsInMemory();
  const log = stored(events.slice(0, 20), "r");
  const ids = Array.from({ length: 65 }, (_, at) => `r${at}`);
  for (const id of ids) runs.set(id, { createdAt: "t", status: "running", log });
  const views = createRunViews();
  for (const id of ids) await views.snapshot(source, id);
  expect(counted.read).toBe(65 * 20);
  await views.snapshot(source, "r64");
  expect(counted.read).toBe(65 * 20);
  await views.snapshot(source, "r0");
  expect(counted.read).toBe(66 * 20);
});

test("of ended runs the last sixty-four are kept, by when somebody asked", async () => {
  const { runs, counted, source } = runsInMemory();
  const ids = Array.from({ length: 65 }, (_, at) => `r${at}`);
  for (const id of ids)
    runs.set(id, { createdAt: "t", status: "succeeded", log: stored(events, id) });
  const views = createRunViews();
  for (const id of ids.slice(0, 64)) await views.snapshot(source, id);
  await views.snapshot(source, "r0");
  const before = counted.read;
  await views.snapshot(source, "r64"); // r1 is the oldest now
  await views.snapshot(source, "r0");
  expect(counted.read).toBe(before + events.length - 1);
  await views.snapshot(source, "r1");
  expect(counted.read).toBe(before + 2 * (events.length - 1));
});

test("large snapshots leave earlier: their bytes are bounded", async () => {
  const { runs, counted, source } = runsInMemory();
  const text = "x".repeat(16_384);
  const words = Array.from({ length: 200 }, () => text);
  const views = createRunViews();
  const ids = Array.from({ length: 14 }, (_, at) => `r${at}`);
  const [start, end] = [events[0] as ExecutionEvent, events.at(-1) as ExecutionEvent];
  const logs = words.map((word, at) => ({
    v: 1,
    kind: "log",
    runId: "r",
    seq: at + 2,
    ts: start.ts,
    level: "info",
    channel: "engine",
    text: word,
  }));
  const whole = [start, ...logs, { ...end, seq: 202 }] as ExecutionEvent[];
  for (const id of ids)
    runs.set(id, { createdAt: "t", status: "succeeded", log: stored(whole, id) });
  for (const id of ids) await views.snapshot(source, id);
  const before = counted.read;
  for (const id of ids.slice(-10)) await views.snapshot(source, id); // 10 times 3.3 MB are below 32 MiB
  expect(counted.read).toBe(before);
  await views.snapshot(source, "r0");
  expect(counted.read).toBe(before + whole.length - 1);
});

test("a run that is gone has no state, and a new run with its id has its own", async () => {
  const { runs, source } = runsInMemory();
  const views = createRunViews();
  const status = "succeeded" as const;
  runs.set("r", { createdAt: "first", status, log: stored(events, "r") });
  const old = await views.snapshot(source, "r");
  runs.delete("r");
  expect(await views.snapshot(source, "r")).toBeUndefined();
  const other = events.map((event) => ({ ...event, ts: event.ts + 1_000 }) as ExecutionEvent);
  runs.set("r", { createdAt: "second", status, log: stored(other, "r") });
  const now = await views.snapshot(source, "r");
  expect(now?.seq).toBe(old?.seq);
  expect(viewOf(now)).not.toEqual(viewOf(old));
});

test("a journal that fails once is read again by the next reader", async () => {
  const { runs, source } = runsInMemory();
  runs.set("r", { createdAt: "t", status: "running", log: stored(events.slice(0, 30), "r") });
  const views = createRunViews();
  let fails = true;
  const journal: RunsSource["journal"] = {
    async *read(runId, after) {
      for await (const page of source.journal.read(runId, after)) {
        yield page;
        if (fails) throw new Error("the disk is away");
      }
    },
  };
  await expect(views.snapshot({ ...source, journal }, "r")).rejects.toThrow("away");
  fails = false;
  expect(viewOf(await views.snapshot({ ...source, journal }, "r"))).toEqual(folded(30, "r"));
});
