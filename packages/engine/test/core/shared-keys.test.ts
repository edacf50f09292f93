/** Keys that are kept outside of an engine, for the nodes of several. */
import type { KeyPlace, KeyPort } from "@millrace/contracts";
import { createEngine, createMemoryJournal } from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import { finish, kinds, one, planOf } from "@millrace/test-support/flows";
import { expect, test } from "vitest";
import { bodyType, gauge } from "./types.ts";

interface Claim {
  readonly holder: string;
  readonly max: number;
  held: boolean;
  grant(): void;
}

/** Keys in memory that answer a microtask later. `said`: what they were told. */
function createKeys(): { readonly port: KeyPort; readonly said: string[] } {
  const claims = new Map<string, Claim[]>();
  const said: string[] = [];
  const admit = (key: string): void => {
    const all = claims.get(key) ?? [];
    const max = Math.min(...all.map((claim) => claim.max));
    for (const claim of all) {
      const used = all.filter(({ held }) => held).length;
      if (claim.held || used >= max) continue;
      claim.held = true;
      claim.grant();
    }
  };
  const port: KeyPort = {
    claim(key, { runId, node }, { max, heldBefore }): KeyPlace {
      const holder = `${runId}/${node}`;
      const all = claims.get(key) ?? [];
      claims.set(key, all);
      let grant = (): void => {};
      const granted = new Promise<void>((done) => {
        grant = done;
      });
      const known = all.findIndex((claim) => claim.holder === holder);
      const wasHeld = heldBefore || all[known]?.held === true;
      if (known >= 0) all.splice(known, 1);
      const claim = { holder, max, held: wasHeld, grant };
      all.push(claim);
      if (wasHeld) grant();
      admit(key);
      const end = (word: string): void => {
        said.push(`${word} ${holder}`);
        if (word === "leave" && claim.held) return;
        all.splice(all.indexOf(claim), 1);
        admit(key);
      };
      return {
        first: Promise.resolve(claim.held),
        granted,
        release: () => end("release"),
        leave: () => end("leave"),
      };
    },
    async resume(runId, nodes) {
      said.push(`resume ${runId}: ${nodes.join(" ")}`);
    },
  };
  return { port, said };
}

const keyed = (ids: string, max = 1): string =>
  [...ids]
    .map((id) => `node ${id}: test.gauge { @concurrency = { max: ${max}, key: "k" } }`)
    .join("\n");

test("a key bounds the nodes of two engines; only who waits says so", async () => {
  const work = gauge();
  const { port } = createKeys();
  const clock = createSimClock();
  const plan = await planOf(keyed("abc"), { types: [work.type] });
  const engines = [1, 2].map(() => createEngine({ host: clock, keys: port }));
  const runs = engines.map((engine, at) => engine.run(plan, {}, { runId: `r${at}` }));
  await clock.run();
  for (const run of runs) expect(await run.result).toMatchObject({ status: "succeeded" });
  expect(work.seen).toEqual({ now: 0, most: 1 });
});

test("the events are those of keys in the engine itself", async () => {
  const flow = `${keyed("abc")}\nnode d: test.gauge { @concurrency = { max: 1, key: "other" } }`;
  const logOf = async (keys?: KeyPort) => {
    const work = gauge();
    const { events } = await finish(flow, { types: [work.type], engine: { keys } });
    expect(one(events, "node.waiting", "b")).toMatchObject({ on: "slot", key: "k" });
    return ["a", "b", "c", "d"].map((id) => kinds(events, id));
  };
  expect(await logOf(createKeys().port)).toEqual(await logOf());
});

test("the lowest bound of those present counts, and a key is given back also by a node that fails", async () => {
  const work = gauge();
  const { port, said } = createKeys();
  const fails = bodyType("fails", () => {
    throw new Error("no");
  });
  const types = [work.type, fails];
  const flow = `${keyed("ab", 5)}
${keyed("c", 1)}
node f: test.fails { @concurrency = { max: 1, key: "k" } }`;
  await finish(flow, { types, engine: { keys: port }, run: { onFailure: "finish" } });
  expect(work.seen.most).toBeLessThanOrEqual(2);
  expect(said.map((text) => text.split("/")[1]).sort()).toEqual(["a", "b", "c", "f"]);
});

test("a run that is left keeps its key, and has it again where it is resumed", async () => {
  const { port, said } = createKeys();
  const clock = createSimClock();
  const journal = createMemoryJournal({ now: clock.now });
  const work = gauge();
  const plan = await planOf(keyed("ab"), { types: [work.type] });
  const first = createEngine({ host: clock, journal, keys: port });
  first.run(plan, {}, { runId: "r" }).result.catch(() => {});
  await clock.settle();
  await first.close({ leave: true });
  expect([...said].sort()).toEqual(["leave r/a", "leave r/b"]);
  said.length = 0;
  work.seen.now = 0;
  const second = createEngine({ host: clock, journal, keys: port });
  const run = await second.resume("r", { plan });
  await clock.run();
  expect(await run.result).toMatchObject({ status: "succeeded" });
  expect(work.seen.most).toBe(1);
  expect(said).toEqual(["resume r: a b", "release r/a", "release r/b"]);
});

test("a node that waits for its key is cancelled with its run, and waits no longer", async () => {
  const { port, said } = createKeys();
  const clock = createSimClock();
  const work = gauge();
  const plan = await planOf(keyed("ab"), { types: [work.type] });
  const engine = createEngine({ host: clock, keys: port });
  const run = engine.run(plan, {}, { runId: "r" });
  await clock.settle();
  run.cancel({ graceMs: 0 });
  await clock.run();
  expect(await run.result).toMatchObject({ status: "cancelled" });
  expect([...said].sort()).toEqual(["release r/a", "release r/b"]);
});
