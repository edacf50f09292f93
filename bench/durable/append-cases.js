// What it costs to write events so that they survive: alone, in batches, beside the work of an event loop, on disk.
import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { openStore } from "@millrace/store";
import { sized } from "../size.js";
import { endEvent, headerOf, logEvent, logEvents } from "./logs.js";

const SINGLE = sized(300, 10); // appends of one sample
const BATCH = 100;
const WRITERS = 8; // runs that append at the same time
const BATCHES = sized(40, 2); // of each of them, in one sample
const STEADY_PER_S = 10_000;
const STEADY_MS = sized(1_000, 100);
const STORED = sized(50_000, 1_000);

/** A folder that goes away with the case. */
export function folder() {
  const dir = mkdtempSync(join(tmpdir(), "millrace-bench-"));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

let last = 0;
export async function newRun(store) {
  last += 1;
  const runId = `r${last}`;
  const { epoch } = await store.journal.create(headerOf(runId));
  return { runId, epoch };
}

async function timed(work) {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function appendOne(store) {
  const { runId, epoch } = await newRun(store);
  const events = logEvents(runId, 1, SINGLE).map((event) => [event]);
  return timed(async () => {
    for (const [at, batch] of events.entries()) {
      await store.journal.append(runId, at, batch, { epoch, sync: true });
    }
  });
}

async function appendBatches(store) {
  const runs = await Promise.all(Array.from({ length: WRITERS }, () => newRun(store)));
  const logs = runs.map(({ runId }) =>
    Array.from({ length: BATCHES }, (_, n) => logEvents(runId, n * BATCH + 1, BATCH)),
  );
  const before = performance.eventLoopUtilization();
  const ms = await timed(() =>
    Promise.all(
      runs.map(async ({ runId, epoch }, index) => {
        for (const [n, batch] of logs[index].entries()) {
          await store.journal.append(runId, n * BATCH, batch, { epoch, sync: true });
        }
      }),
    ),
  );
  const { active } = performance.eventLoopUtilization(before);
  return { ms, mainMs: active };
}

const EVENTS = WRITERS * BATCHES * BATCH;

export const appendCases = {
  "one durable append at a time": {
    what: `${SINGLE} events, each awaited, against appendFile and fdatasync of its line`,
    samples: 5,
    bars: { "appendFile + fdatasync": null },
    added: { bar: 63 },
    async prepare() {
      const { dir, remove } = folder();
      const store = await openStore({ dir: join(dir, "store") });
      const file = await open(join(dir, "raw"), "a");
      const { line } = logEvent("raw", 1);
      return {
        contenders: {
          "appendFile + fdatasync": () =>
            timed(async () => {
              for (let i = 0; i < SINGLE; i += 1) {
                await file.appendFile(line);
                await file.datasync();
              }
            }),
          millrace: () => appendOne(store),
        },
        async close() {
          await file.close();
          await store.close();
          remove();
        },
      };
    },
  },

  "batches of 100": {
    what: `${EVENTS} events of ${WRITERS} runs in batches of ${BATCH}, each awaited, against as many writes with fdatasync`,
    samples: 5,
    bars: { "write + fdatasync": null },
    async prepare() {
      const { dir, remove } = folder();
      const store = await openStore({ dir: join(dir, "store") });
      const raw = openSync(join(dir, "raw"), "a");
      const block = Buffer.concat(logEvents("raw", 1, BATCH).map(({ line }) => line));
      const rates = [];
      const mains = [];
      return {
        contenders: {
          "write + fdatasync": () =>
            timed(() => {
              for (let i = 0; i < WRITERS * BATCHES; i += 1) {
                writeSync(raw, block);
                fdatasyncSync(raw);
              }
            }),
          async millrace() {
            const { ms, mainMs } = await appendBatches(store);
            rates.push((EVENTS / ms) * 1_000);
            mains.push((mainMs * 1_000) / EVENTS);
            return ms;
          },
        },
        facts: () => ({
          "events/s": { value: Math.round(Math.max(...rates)), least: 100_000 },
          "µs of the main thread per event": { value: round(Math.min(...mains)), bar: 3, work: 1 },
        }),
        async close() {
          closeSync(raw);
          await store.close();
          remove();
        },
      };
    },
  },

  "event loop at 10,000 events/s": {
    what: "99th percentile of the delay of the event loop while batches of 10 ms are appended, against an idle one",
    samples: 2,
    bars: { idle: null },
    async prepare() {
      const { dir, remove } = folder();
      const store = await openStore({ dir });
      const p99 = async (work) => {
        const delay = monitorEventLoopDelay({ resolution: 1 });
        delay.enable();
        await work();
        delay.disable();
        return delay.percentile(99) / 1e6;
      };
      const over = [];
      const idle = () => p99(() => new Promise((done) => setTimeout(done, STEADY_MS)));
      return {
        contenders: {
          idle,
          async millrace() {
            const { runId, epoch } = await newRun(store);
            const size = STEADY_PER_S / 100;
            const ms = await p99(async () => {
              const begun = performance.now();
              for (let n = 0; n < STEADY_MS / 10; n += 1) {
                await store.journal.append(runId, n * size, logEvents(runId, n * size + 1, size), {
                  epoch,
                  sync: true,
                });
                const wait = begun + (n + 1) * 10 - performance.now();
                if (wait > 0) await new Promise((done) => setTimeout(done, wait));
              }
            });
            over.push(ms - (await idle()));
            return ms;
          },
        },
        facts: () => ({ "ms over idle": { value: round(Math.min(...over)), bar: 5 } }),
        async close() {
          await store.close();
          remove();
        },
      };
    },
  },

  "database size": {
    what: "bytes of the file for the bytes of its lines, 50,000 events in batches of 100",
    samples: 1,
    bars: { "the lines": 1.6 },
    isBytes: true,
    async prepare() {
      return {
        contenders: {
          "the lines": () => STORED * logEvent("r1", STORED / 2).line.byteLength,
          async millrace() {
            const { dir, remove } = folder();
            const store = await openStore({ dir });
            const { runId, epoch } = await newRun(store);
            for (let at = 0; at < STORED; at += BATCH) {
              await store.journal.append(runId, at, logEvents(runId, at + 1, BATCH), {
                epoch,
                sync: false,
              });
            }
            await store.journal.append(runId, STORED, [endEvent(runId, STORED + 1)], {
              epoch,
              sync: true,
            });
            await store.close();
            const bytes = statSync(join(dir, "millrace.db")).size;
            remove();
            return bytes;
          },
        },
      };
    },
  },
};

export const round = (value) => Math.round(value * 100) / 100;
