import type { ExecutionEvent } from "@millrace/contracts";
import { createView, foldEvents, viewToJson } from "@millrace/contracts";
import { createEngine, createMemoryJournal } from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import { finish, kinds, planOf, start } from "@millrace/test-support/flows";
import { expect, test } from "vitest";

const LONG = "node l: loop { max = 9000\n body { node t: transform { value = index } } }";

async function read(
  run: { batches(o?: object): AsyncIterable<readonly ExecutionEvent[]> },
  options = {},
) {
  const events: ExecutionEvent[] = [];
  for await (const batch of run.batches(options)) {
    expect(batch.length).toBeGreaterThan(0);
    events.push(...batch);
  }
  return events;
}

test("any number of readers get every event, whenever they come", async () => {
  const plan = await planOf('node a: delay { for = 5ms }\nnode b: log { message = "b" }\na -> b');
  const clock = createSimClock();
  const run = createEngine({ host: clock }).run(plan);
  const early = read(run);
  await clock.run();
  await run.result;
  const late = await read(run);
  expect(await early).toEqual(late);
  expect(late.map(({ seq }) => seq)).toEqual(late.map((_, i) => i + 1));
  expect(late.at(-1)?.kind).toBe("summary");
});

test("a reader starts after the event it names, and sees what its filter keeps", async () => {
  const plan = await planOf('node a: log { message = "a" }');
  const run = createEngine().run(plan);
  await run.result;
  expect((await read(run, { after: 3 })).map(({ seq }) => seq)).toEqual([4, 5]);
  expect(kinds(await read(run, { kinds: ["log"] }))).toEqual(["run.started", "log", "summary"]);
  expect(await read(run, { after: 99 })).toEqual([]);
});

test("a closed reader ends at once, and one that leaves its loop closes itself", async () => {
  const { run, clock, end } = await start("node a: delay { for = 1h }");
  const cursor = run.batches();
  const seen: number[] = [];
  const reading = (async () => {
    for await (const batch of cursor) seen.push(batch.length);
  })();
  await clock.settle();
  cursor.close();
  await reading;
  expect(cursor.seq).toBe(3);
  for await (const _ of run.batches()) break;
  run.cancel();
  await end();
});

test("a reader that is later than the window gets a snapshot, whose fold goes on like the whole log", async () => {
  const clock = createSimClock();
  const run = createEngine({ host: clock }).run(await planOf(LONG));
  await clock.run();
  await run.result;
  const events = await read(run);
  expect(events[0]?.kind).toBe("snapshot");
  expect(events.at(-1)?.kind).toBe("summary");
  const view = createView();
  for (const event of events) foldEvents(view, event);
  const { events: whole } = await finish(LONG, { run: { runId: run.id } });
  const full = createView();
  for (const event of whole) foldEvents(full, event);
  expect(JSON.stringify(viewToJson(view))).toBe(JSON.stringify(viewToJson(full)));
});

test("a reader that holds the run gets every event, however late it is, and the run waits for it", async () => {
  const clock = createSimClock();
  const run = createEngine({ host: clock }).run(await planOf(LONG));
  const events: ExecutionEvent[] = [];
  let most = 0;
  const reading = (async () => {
    for await (const batch of run.batches({ holds: true })) {
      most = Math.max(most, run.seq - (events.at(-1)?.seq ?? 0));
      events.push(...batch);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((next) => setImmediate(next));
    }
  })();
  const running = setInterval(() => void clock.settle());
  await reading;
  clearInterval(running);
  expect((await run.result).status).toBe("succeeded");
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  expect(events.length).toBeGreaterThan(18_000);
  expect(most).toBeLessThan(10_000);
});

test("a reader that held the run and leaves holds it no longer", async () => {
  const clock = createSimClock();
  const run = createEngine({ host: clock }).run(await planOf(LONG));
  const reader = run.batches({ holds: true });
  await clock.settle();
  expect(run.state).toBe("running");
  reader.close();
  await clock.run();
  expect((await run.result).status).toBe("succeeded");
});

test("with a journal it reads on from there, without loss", async () => {
  const clock = createSimClock();
  const journal = createMemoryJournal({ now: clock.now });
  const run = createEngine({ host: clock, journal }).run(await planOf(LONG));
  await clock.run();
  await run.result;
  const events = await read(run);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  expect(events.length).toBeGreaterThan(18_000);
});

test("a snapshot at any time says what the log says", async () => {
  const { run, clock, events, end } = await start(
    "node a: delay { for = 1h }\nnode b: delay { for = 2h }",
  );
  await clock.advance(3_600_000);
  const view = createView();
  for (const event of events) foldEvents(view, event);
  expect(run.snapshot()).toMatchObject({ kind: "snapshot", seq: run.seq, view: viewToJson(view) });
  expect(run.state).toBe("running");
  await end();
});

test("a reader that starts after no position of the log reads all of it", async () => {
  const { run, events, end } = await start('node a: log { message = "x" }');
  await end();
  for (const after of [-1, Number.NaN, -0.5]) {
    const read: unknown[] = [];
    for await (const batch of run.batches({ after })) read.push(...batch);
    expect(read).toEqual(events);
  }
});
