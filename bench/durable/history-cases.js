// What a long history costs: opening, lists with filters, a start with many runs that wait for a person.
import { join } from "node:path";
import { createEngine } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { createLocalExecutor } from "@millrace/server";
import { openStore } from "@millrace/store";
import { sized, smoke } from "../size.js";
import { folder, round } from "./append-cases.js";
import { endEvent, headerOf } from "./logs.js";

const AT_ONCE = 500;
const PARKED = sized(1_000, 10);

/** Ended runs with tags, templates and triggers of several kinds, an hour of ten apart. */
async function fill(store, count) {
  for (let from = 0; from < count; from += AT_ONCE) {
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, count - from) }, async (_, n) => {
        const no = from + n;
        const runId = `h${no}`;
        const tags = { team: `t${no % 50}`, day: `d${no % 1_000}` };
        const trigger = no % 100 === 0 ? "webhook" : "embed";
        const template = no % 10 === 0 ? { template: `tpl-${no % 200}`, templateVersion: 1 } : {};
        const { epoch } = await store.journal.create(
          headerOf(runId, { tags, trigger, ...template }),
        );
        if (no % 20_000 === 0) return; // some live ones among them
        const status = no % 10 === 3 ? "failed" : "cancelled";
        await store.journal.append(runId, 0, [endEvent(runId, 1, status)], { epoch, sync: false });
      }),
    );
  }
}

async function timed(work) {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Opening a store with so many runs, against one that is new. */
function openCase(count, barMs) {
  return {
    what: `opening a store with ${count} ended runs that was closed, against opening one with none`,
    samples: 3,
    bars: { empty: null },
    async prepare() {
      const [full, none] = [folder(), folder()];
      const filled = await openStore({ dir: full.dir });
      await fill(filled, count);
      await filled.close();
      const opens = (dir) => async () => {
        let store;
        const ms = await timed(async () => {
          store = await openStore({ dir });
          await store.runs.live();
        });
        await store.close();
        return ms;
      };
      await opens(none.dir)();
      const times = [];
      const open = opens(full.dir);
      return {
        contenders: {
          empty: opens(none.dir),
          async millrace() {
            const ms = await open();
            times.push(ms);
            return ms;
          },
        },
        facts: () => ({ ms: { value: round(Math.min(...times)), bar: barMs, work: 1 } }),
        close() {
          full.remove();
          none.remove();
        },
      };
    },
  };
}

const QUERIES = {
  newest: {},
  "one status": { status: ["failed"] },
  "live ones": { status: ["running", "pending", "paused"] },
  "two statuses": { status: ["failed", "cancelled"] },
  "a template": { template: "tpl-30" },
  "a tag": { tags: { day: "d77" } },
  "two tags": { tags: { team: "t7", day: "d57" } },
  "a trigger": { trigger: "webhook" },
  "a time": { since: "2020-01-01T00:00:00Z" },
  nothing: { template: "no-such" },
};

export const historyCases = {
  "open with 10,000 runs": openCase(sized(10_000, 100), 50),
  "open with 100,000 runs": { ...openCase(100_000, 500), isLong: true },

  "list_runs of 100,000": {
    what: "50 runs by each of ten filters, the slowest counts, against the newest 50",
    samples: 5,
    isLong: !smoke,
    bars: { newest: null },
    async prepare() {
      const { dir, remove } = folder();
      const store = await openStore({ dir });
      await fill(store, sized(100_000, 200));
      const list = (filter) => timed(() => store.runs.list({ limit: 50, ...filter }));
      const slowest = {};
      return {
        contenders: {
          newest: () => list({}),
          async millrace() {
            let worst = 0;
            for (const [name, filter] of Object.entries(QUERIES)) {
              const ms = await list(filter);
              slowest[name] = Math.min(slowest[name] ?? Number.POSITIVE_INFINITY, ms);
              worst = Math.max(worst, ms);
            }
            return worst;
          },
        },
        facts: () =>
          Object.fromEntries(
            Object.entries(slowest).map(([name, ms]) => [
              `${name}, ms`,
              { value: round(ms), bar: 20, work: 1 },
            ]),
          ),
        async close() {
          await store.close();
          remove();
        },
      };
    },
  },

  "start with 1,000 parked runs": {
    what: "from the opening of the store to serving, with 1,000 runs that wait for a person, against opening it alone",
    samples: 1,
    bars: { "open alone": null },
    async prepare() {
      const { dir, remove } = folder();
      const none = { inputs: [], outputs: [], connections: [], schedules: [], layout: {} };
      const ask = { id: "ask", type: "confirm", fields: { prompt: "Go on?" } };
      const graph = { version: 1, id: "ask", nodes: [ask], edges: [], ...none };
      const over = (store) =>
        createLocalExecutor({
          engine: createEngine({ host: createNodeHost(), journal: store.journal }),
          store,
        });
      const store = await openStore({ dir: join(dir, "data") });
      const executor = over(store);
      await Promise.all(
        Array.from({ length: PARKED }, async () => {
          for (;;) {
            try {
              const { runId } = await executor.start({ graph, inputs: {}, trigger: "embed" });
              for await (const page of executor.attach(runId)) {
                if (page.some(({ kind }) => kind === "run.paused")) return;
              }
            } catch (error) {
              if (error.code !== "too_many_runs") throw error;
              await new Promise((next) => setTimeout(next, 5));
            }
          }
        }),
      );
      await executor.close({ graceMs: 0 });
      await store.close();
      const times = [];
      let opened;
      const opens = async () => {
        opened = await openStore({ dir: join(dir, "data") });
      };
      return {
        contenders: {
          async "open alone"() {
            const ms = await timed(opens);
            await opened.close();
            return ms;
          },
          async millrace() {
            let again;
            const ms = await timed(async () => {
              await opens();
              again = over(opened);
              await again.recover();
            });
            times.push(ms);
            await again.close({ graceMs: 0 });
            await opened.close();
            return ms;
          },
        },
        facts: () => ({ ms: { value: Math.round(Math.min(...times)), bar: 2_000, work: 1 } }),
        close: remove,
      };
    },
  },
};
