/** What an `ai` node has done is not done again when its process is gone and the store is opened by another one. */

import { aiSettings } from "@millrace/ai";
import { checkLog, type ExecutionEvent, type Journal, parseEventStrict } from "@millrace/contracts";
import { createEngine } from "@millrace/engine";
import { openStore, type Store } from "@millrace/store";
import { planOf } from "@millrace/test-support/flows";
import { temporaryFolder } from "@millrace/test-support/folder";
import { type Entry, flowOf, HMAC_KEY, scripted, toolType } from "@millrace/test-support/models";
import { linesOf } from "@millrace/test-support/store";
import { expect, test } from "vitest";

const RUN = "ai";
const FIELDS = `task = "extract"
failoverRetries = 0
failover = [{ provider: "spare", modelId: "s" }]
outputSchema = { type: "object", properties: { x: { type: "integer" } }, required: ["x"] }
tools = ["action:test.a", "action:test.b"]`;

/** Answers by how many the messages hold: two tools, one that breaks off and goes to the spare, one to repair, and the end. */
const TALK: readonly Entry[] = [
  { tools: [{ name: "test_a" }] },
  { tools: [{ name: "test_b" }] },
  { text: '{"x":"no"}' },
  { text: '{"x":1}' },
];

/** A model that answers by the state of the conversation; `isBroken` after the first answer. */
function talker(id: string, asked: number[], isBroken: boolean): ReturnType<typeof scripted> {
  const shell = scripted([], { id });
  return {
    ...shell,
    languageModel: async (modelId, ctx) => ({
      ...(await shell.languageModel(modelId, ctx)),
      async doStream(call) {
        const at = call.prompt.filter(({ role }) => role === "assistant").length;
        asked.push(at);
        const entry: Entry = isBroken && at > 0 ? { text: "half", after: "cut" } : (TALK[at] ?? {});
        return await (await scripted([entry], { id }).languageModel(modelId, ctx)).doStream(call);
      },
    }),
  };
}

/** A journal that stands still once it holds `k` events, as if the process were gone: nothing comes through any more. */
function dying(inner: Journal, k: number): { journal: Journal; readonly dead: Promise<void> } {
  let die: () => void = () => undefined;
  let isDead = false;
  const dead = new Promise<void>((resolve) => {
    die = resolve;
  });
  const never = new Promise<never>(() => {});
  return {
    dead,
    journal: {
      ...inner,
      append(runId, seq, events, options) {
        if (isDead) return never;
        if (seq + events.length < k) return inner.append(runId, seq, events, options);
        isDead = true;
        return inner.append(runId, seq, events.slice(0, k - seq), options).then(() => {
          die();
          return never;
        });
      },
      putValue: (...args) => (isDead ? never : inner.putValue(...args)),
    },
  };
}

async function eventsOf(store: Store): Promise<ExecutionEvent[]> {
  const lines = await linesOf(store.journal, RUN);
  return lines.map((line) => parseEventStrict(line) as ExecutionEvent);
}

test("tools run once and kept answers are not asked for again, wherever the process ends", async () => {
  let cuts = 0;
  let kept = 0;
  for (let k = 3; ; k += 3) {
    const dir = temporaryFolder();
    const types = ["a", "b"].map((name) => toolType(name, async () => ({ value: 1 })));
    const plan = await planOf(flowOf(FIELDS), { types });
    const asked: number[] = [];
    const providers = [talker("mock", asked, true), talker("spare", asked, false)];
    const settings = [aiSettings({ providers, hmacKey: HMAC_KEY })];
    const first = await openStore({ dir });
    const { journal, dead } = dying(first.journal, k);
    const lost = createEngine({ journal, settings });
    const { result } = lost.run(plan, {}, { runId: RUN });
    await Promise.race([dead, result]);
    const past = await eventsOf(first);
    await first.close();
    if (past.at(-1)?.kind === "summary") break;
    cuts += 1;
    const before = asked.length;
    const store = await openStore({ dir });
    const engine = createEngine({ journal: store.journal, settings });
    const summary = await (await engine.resume(RUN, { plan })).result;
    const events = await eventsOf(store);
    await engine.close();
    await store.close();
    expect(summary.status, `cut ${k}`).toBe("succeeded");
    expect(checkLog(events), `cut ${k}`).toEqual([]);
    const ended = past.flatMap((e) => (e.kind === "tool.finished" ? [e.call] : []));
    for (const { entry, calls } of types) {
      const began = events.filter(
        (e) => e.kind === "tool.started" && e.tool === `action:${entry.type}`,
      );
      const isEnded = began.some((e) => e.kind === "tool.started" && ended.includes(e.call));
      if (isEnded) expect(calls, `${entry.type}, cut ${k}`).toHaveLength(1);
      expect([1, 2], `${entry.type}, cut ${k}`).toContain(calls.length);
    }
    if (ended.length === 0) continue;
    kept += 1;
    expect(asked.slice(before), `cut ${k}`).not.toContain(0);
  }
  expect(cuts).toBeGreaterThan(6);
  expect(kept).toBeGreaterThan(2);
});
