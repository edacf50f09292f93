import { join } from "node:path";
import { createRandom } from "@millrace/engine/testing";
import { openStore } from "@millrace/store";
import { notFull, testUnless } from "@millrace/test-support";
import { temporaryFolder } from "@millrace/test-support/folder";
import { bundleProgram } from "@millrace/test-support/program";
import { linesOf, logOf, startRun } from "@millrace/test-support/store";
import { expect, test } from "vitest";
import { startChild } from "./child.ts";
import { newStore } from "./new-store.ts";

const SEED = 11; // a log of some hundred events
const KILLS = 10;

/** Takes the run up where it is, stores one event or several at a time, and says on stdout what was acknowledged. */
const APPENDER = `
import { writeSync } from "node:fs";
import { openStore } from "@millrace/store";
import { linesOf, logOf, startRun } from "@millrace/test-support/store";
const [dir, most] = process.argv.slice(2);
const store = await openStore({ dir });
const log = logOf(${SEED}).slice(0, most);
const state = await store.journal.load("r${SEED}");
let epoch;
if (state === null) ({ epoch } = await store.journal.create(startRun(${SEED})));
else ({ epoch } = await store.journal.lease("r${SEED}", "child " + process.pid, 30000));
writeSync(1, "ready\\n");
for (let seq = state?.events.length ?? 0; seq < log.length; ) {
  const batch = log.slice(seq, seq + 1 + (seq % 3));
  await store.journal.append("r${SEED}", seq, batch, { epoch, sync: seq % 5 !== 0 });
  seq += batch.length;
  await store.journal.putValue("r${SEED}", "step " + seq, { seq });
  writeSync(1, seq + "\\n");
}
setInterval(() => {}, 1000); // holds the store until it is killed
`;

testUnless(notFull)(
  "killed at any moment, nothing that was acknowledged is lost, and the log stays whole",
  async () => {
    const dir = temporaryFolder();
    const path = await bundleProgram(APPENDER, import.meta.url);
    const random = createRandom(SEED);
    const log = logOf(SEED).map(({ line }) => new TextDecoder().decode(line));
    let kept = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const child = startChild(path, [dir]);
      await child.until(1);
      const left = log.length - kept;
      const most = Math.max(1, Math.floor(left / (KILLS - kill) / 2));
      if (left > 3) await child.until(1 + random.integer(0, most));
      child.process.kill("SIGKILL");
      await child.exited;
      const acknowledged = child.lines.slice(1).map(Number).at(-1) ?? kept;
      const store = await openStore({ dir });
      const lines = await linesOf(store.journal, `r${SEED}`);
      expect(lines).toEqual(log.slice(0, lines.length));
      expect(lines.length).toBeGreaterThanOrEqual(acknowledged);
      const steps = (await store.journal.load(`r${SEED}`))?.steps ?? {};
      for (const line of child.lines.slice(1)) expect(steps).toHaveProperty([`step ${line}`]);
      kept = lines.length;
      await store.close();
    }
    expect(kept).toBeGreaterThan(KILLS);
  },
);

test("a run of a process that lives is not taken from it, and one of a killed process is", async () => {
  const dir = temporaryFolder();
  const child = startChild(await bundleProgram(APPENDER, import.meta.url), [dir, "1"]);
  await child.until(2);
  const store = await newStore({ dir });
  const lease = () => store.journal.lease(`r${SEED}`, "next", 1_000);
  expect(await lease()).toBeNull();
  expect(await store.runs.worker(`r${SEED}`)).toMatchObject({ pid: child.process.pid });
  expect(await store.runs.live()).toEqual([]);
  child.process.kill("SIGKILL");
  await child.exited;
  expect(await store.runs.worker(`r${SEED}`)).toBeNull();
  expect(await store.runs.live()).toEqual([`r${SEED}`]);
  expect(await lease()).not.toBeNull();
});

test("an open store keeps no process alive, and what it was given is stored before the end", async () => {
  const dir = temporaryFolder();
  const program = `
    import { openStore } from "@millrace/store";
    import { logOf, startRun } from "@millrace/test-support/store";
    const store = await openStore({ dir: process.argv[2] });
    store.journal.create(startRun(1)).then(({ epoch }) =>
      store.journal.append("r1", 0, logOf(1), { epoch, sync: false }));
  `;
  const child = startChild(await bundleProgram(program, import.meta.url), [dir]);
  await child.exited;
  expect(child.process.exitCode).toBe(0);
  const store = await newStore({ dir: join(dir) });
  expect(await linesOf(store.journal, "r1")).toHaveLength(logOf(1).length);
  await expect(store.journal.create(startRun(1))).rejects.toMatchObject({ code: "run_exists" });
});
