/** Two openings of one store that write at the same time, as two processes do. */
import { setImmediate } from "node:timers/promises";
import { expect } from "vitest";
import type { StoreBench } from "./bench.ts";
import { linesOf, logOf, startRun } from "./logs.ts";

const RUNS = 12;
const SEED = 5;
const SOON = { timeout: 10_000 };

/** Tests of two openings at work on one store; a store that cannot be opened twice has none. */
export function sharingSuite({ testRestart }: StoreBench): void {
  testRestart("two that write at once lose nothing of each other", async (place) => {
    const one = await place.open();
    const two = await place.open();
    const told: number[] = [];
    const { epoch: first } = await one.journal.create(startRun(SEED, { runId: "first" }));
    two.journal.follow("first", 0, (events) => told.push(...events.map(({ seq }) => seq)));
    const runs = Array.from({ length: RUNS }, (_, at) => `r${at}`);
    const log = logOf(SEED);
    await Promise.all(
      runs.map(async (runId, at) => {
        const { journal, settings } = at % 2 === 0 ? one : two;
        const { epoch } = await journal.create(startRun(SEED, { runId }));
        for (const event of log) {
          await journal.append(runId, event.seq - 1, [event], { epoch, sync: event.seq % 2 === 0 });
        }
        await settings.set({ [`ai.${runId}`]: at });
      }),
    );
    const lines = log.map(({ line }) => new TextDecoder().decode(line));
    for (const { journal, runs: seen, settings } of [one, two]) {
      for (const runId of runs) expect(await linesOf(journal, runId)).toEqual(lines);
      expect((await seen.list({ limit: 200 })).items).toHaveLength(RUNS + 1);
      await expect.poll(async () => Object.keys(await settings.all()).length, SOON).toBe(RUNS);
    }
    expect(await one.feed.last()).toBe(await two.feed.last());
    await one.journal.append("first", 0, log.slice(0, 2), { epoch: first, sync: true });
    await expect.poll(() => told, SOON).toEqual([1, 2]);
  });

  testRestart(
    "a run is at work in one of them, which is told what others say to it",
    async (place) => {
      const one = await place.open();
      const two = await place.open();
      await one.journal.create(startRun(SEED));
      const runId = `r${SEED}`;
      expect(await two.journal.lease(runId, "two", 30_000)).toBeNull();
      const stop = new AbortController();
      const obeying = one.inbox?.obeyUntil(stop.signal, {
        runId,
        async obey() {
          for (const { id, message } of (await one.inbox?.pending(runId)) ?? []) {
            await one.inbox?.answer({ id, runId }, { heard: message["say"] ?? null });
          }
        },
      });
      const id = (await two.inbox?.send(runId, { say: "stop" })) ?? "";
      await expect.poll(() => two.inbox?.answerOf(id), SOON).toEqual({ heard: "stop" });
      stop.abort();
      await obeying;
      await one.close();
      expect(await two.journal.lease(runId, "two", 30_000)).not.toBeNull();
    },
  );

  testRestart("requests to one run are obeyed one call after the other", async (place) => {
    const { journal, inbox } = await place.open();
    await journal.create(startRun(SEED));
    const runId = `r${SEED}`;
    const stop = new AbortController();
    const heard: string[] = [];
    let read = 0;
    let atWork = 0;
    let most = 0;
    let answer = (): void => {};
    let isOver = false;
    const obeying = inbox
      ?.obeyUntil(stop.signal, {
        runId,
        isNew: true,
        async obey() {
          atWork += 1;
          most = Math.max(most, atWork);
          for (const { id } of await inbox.pending(runId)) {
            read += 1;
            await new Promise<void>((resolve) => {
              answer = resolve;
            });
            heard.push(id);
            await inbox.answer({ id, runId }, null);
          }
          atWork -= 1;
        },
      })
      .then(() => {
        isOver = true;
      });
    const first = await inbox?.send(runId, { say: "one" });
    await expect.poll(() => read, SOON).toBe(1);
    const second = await inbox?.send(runId, { say: "two" });
    answer();
    await expect.poll(() => read, SOON).toBe(2);
    answer();
    await expect.poll(() => atWork, SOON).toBe(0);
    const third = await inbox?.send(runId, { say: "three" });
    await expect.poll(() => read, SOON).toBe(3);
    stop.abort();
    await setImmediate();
    expect(isOver).toBe(false); // a call is at work
    answer();
    await obeying;
    const late = await inbox?.send(runId, { say: "four" });
    expect(await inbox?.pending(runId)).toMatchObject([{ id: late }]);
    expect(heard).toEqual([first, second, third]);
    expect(most).toBe(1);
  });
}
