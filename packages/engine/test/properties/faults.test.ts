import type { NodeType } from "@millrace/engine";
import { createMemoryJournal } from "@millrace/engine";
import { createRandom } from "@millrace/engine/testing";
import {
  compiled,
  faultsOf,
  forSeeds,
  ndjson,
  runPlan,
  scriptedNode,
  TIMEOUT_MS,
} from "@millrace/test-support/flows";
import { test } from "vitest";

const FILE = "faults";

type Body = NodeType["run"];

/** What foreign code does to an engine. */
const FAULTS: readonly Body[] = [
  () => {
    throw new Error("secret of the body");
  },
  () => {
    throw undefined;
  },
  () => Promise.reject(null),
  async (_fields, ctx) => {
    await ctx.sleep(3);
    throw Object.freeze({ code: "not_ours" });
  },
  // biome-ignore lint/suspicious/noThenProperty: a thenable is the fault
  () => ({ then: (done: (value: unknown) => void) => [done({ value: 1 }), done({ value: 2 })] }),
  () => ({
    // biome-ignore lint/suspicious/noThenProperty: a thenable is the fault
    then() {
      throw new Error("no");
    },
  }),
  () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    return cycle;
  },
  () => ({
    get value() {
      throw new Error("no");
    },
  }),
  () => ({ value: 10n ** 40n }),
  () => new Map([["value", 1]]),
  () => undefined,
  () => ({ value: "x".repeat(70_000) }),
  (_fields, ctx) => {
    queueMicrotask(() => {
      try {
        ctx.log("info", "after the end");
      } catch {}
    });
    return { value: 1 };
  },
  (fields) => {
    try {
      (fields as { value: unknown }).value = "changed";
    } catch {}
    return { value: 1 };
  },
  async (_fields, ctx) => {
    for (let i = 0; i < 20; i += 1) ctx.progress(i, 20);
    ctx.log("error", "\u0000\uD800\u2028", { token: "hidden" });
    return { value: 1 };
  },
];

test(
  "whatever a body does, the run ends with a legal log, nothing left, and nothing shown of its errors",
  async () => {
    await forSeeds(400, FILE, async (seed, graph) => {
      const random = createRandom(seed);
      const run: Body = (fields, ctx) =>
        random.chance(0.4) ? random.pick(FAULTS)(fields, ctx) : scriptedNode.run(fields, ctx);
      const ran = await runPlan(await compiled(graph, { ...scriptedNode, run }));
      const shown = ndjson(ran.events).includes("secret of the body") ? ["it shows a message"] : [];
      return [...faultsOf(ran), ...shown];
    });
  },
  TIMEOUT_MS,
);

test(
  "with a journal the log is the same, and the journal holds its lines",
  async () => {
    await forSeeds(200, FILE, async (_seed, graph) => {
      const plan = await compiled(graph);
      const journal = createMemoryJournal();
      const ran = await runPlan(plan, { engine: { journal } });
      const lines: string[] = [];
      for await (const page of journal.read("property", 0)) {
        for (const { line } of page) lines.push(`${new TextDecoder().decode(line)}\n`);
      }
      const same = lines.join("") === ndjson(ran.events);
      return [...faultsOf(ran), ...(same ? [] : ["the journal holds something else"])];
    });
  },
  TIMEOUT_MS,
);
