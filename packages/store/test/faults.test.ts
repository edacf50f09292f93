/** Files that a crash or a bad disk has left, as they are found by the next opening. */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { openStore } from "@millrace/store";
import { temporaryFolder } from "@millrace/test-support/folder";
import { linesOf, logOf, startRun } from "@millrace/test-support/store";
import { expect, test } from "vitest";
import { newStore } from "./new-store.ts";

/** The files of a store whose process was killed after it had stored a log, one event at a time. */
async function crashed(): Promise<string> {
  const dir = temporaryFolder();
  const store = await openStore({ dir });
  const { epoch } = await store.journal.create(startRun(1));
  for (const [index, event] of logOf(1).entries()) {
    await store.journal.append("r1", index, [event], { epoch, sync: true });
  }
  const copy = temporaryFolder();
  for (const name of ["millrace.db", "millrace.db-wal", "key"]) {
    writeFileSync(join(copy, name), readFileSync(join(dir, name)));
  }
  await store.close();
  return copy;
}

test("a flipped byte in the write-ahead file takes what follows it, and leaves what was before it whole", async () => {
  const log = logOf(1).map(({ line }) => new TextDecoder().decode(line));
  const dir = await crashed();
  const wal = join(dir, "millrace.db-wal");
  const bytes = readFileSync(wal);
  const at = Math.floor(bytes.length * 0.8);
  bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  writeFileSync(wal, bytes);
  const store = await newStore({ dir });
  const lines = await linesOf(store.journal, "r1");
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThan(log.length);
  expect(lines).toEqual(log.slice(0, lines.length));
});

test("after a write that fails for another reason than room nothing is written any more, and the store says so", async () => {
  const dir = temporaryFolder();
  const store = await newStore({ dir });
  const { epoch } = await store.journal.create(startRun(1));
  const Database = createRequire(import.meta.url)("libsql");
  const other = new Database(join(dir, "millrace.db"));
  other.exec("DROP TABLE timer; DROP TABLE feed"); // as good as a disk that gives nothing back
  other.close();
  const append = () => store.journal.append("r1", 0, logOf(1), { epoch, sync: true });
  await expect(append()).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
  expect(await store.lost).toBe("store_unavailable");
  expect(store.condition).toBe("store_unavailable");
  await expect(store.settings.set({ a: 1 })).rejects.toMatchObject({ code: "store_unavailable" });
  expect((await store.runs.summary("r1"))?.status).toBe("pending"); // reading goes on
});

test("a graph that was changed in its row is no graph that a run goes on with", async () => {
  const dir = await crashed();
  const Database = createRequire(import.meta.url)("libsql");
  const other = new Database(join(dir, "millrace.db"));
  other.exec(`UPDATE graph SET json = json_set(json, '$.id', 'another')`);
  other.close();
  const store = await newStore({ dir });
  await expect(store.journal.load("r1")).rejects.toMatchObject({ code: "store_corrupt" });
});
