import { statSync } from "node:fs";
import { join } from "node:path";
import { openStore, type RetentionReport, startRetention } from "@millrace/store";
import { temporaryFolder } from "@millrace/test-support/folder";
import { appendAll, logOf, TS } from "@millrace/test-support/store";
import { expect, test } from "vitest";
import { newStore } from "./new-store.ts";

const DAY_MS = 86_400_000;

test("logs go when the file has no room for them, and the room is given back", async () => {
  const dir = temporaryFolder();
  const store = await openStore({ dir, now: () => TS });
  for (const seed of [1, 2]) await appendAll(store.journal, logOf(seed));
  for (const name of ["a", "b", "c"]) {
    await store.journal.putValue("r2", name, name.repeat(1_000_000));
  }
  expect(await store.retain({ journalBytes: 1, runDays: 999 })).toMatchObject({
    pruned: 2,
    ms: expect.toSatisfy(Number.isInteger),
  });
  await store.close();
  expect(statSync(join(dir, "millrace.db")).size).toBeLessThan(1_000_000);
});

test("retention by the clock asks for its limits each time, goes on after a failure, and ends when told", async () => {
  const end = logOf(1).at(-1)?.event.ts ?? 0;
  const store = await newStore({ now: () => end + 31 * DAY_MS });
  await appendAll(store.journal, logOf(1));
  const outcomes: (RetentionReport | { readonly error: unknown })[] = [];
  let asked = 0;
  await new Promise<void>((done) => {
    const stop = startRetention(store, {
      firstMs: 0,
      everyMs: 0,
      limits() {
        asked += 1;
        if (asked === 1) throw new Error("no settings yet");
        return asked === 2 ? { journalDays: 40 } : {};
      },
      log(outcome) {
        outcomes.push(outcome);
        if (outcomes.length < 3) return;
        stop();
        done();
      },
    });
  });
  expect(outcomes).toMatchObject([
    { error: new Error("no settings yet") },
    { pruned: 0 },
    { pruned: 1 },
  ]);
});
