import type { Json } from "@millrace/contracts";
import type { CachePort } from "@millrace/engine";
import { createEngine } from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import { finish, kinds, one, outputOf, planOf } from "@millrace/test-support/flows";
import { expect, test } from "vitest";
import { bodyType } from "./types.ts";

function counting() {
  const seen = { calls: 0 };
  const type = bodyType("count", async (fields, ctx) => {
    seen.calls += 1;
    await ctx.sleep(10);
    if (fields["fail"] === true) throw new Error("no");
    return { n: seen.calls };
  });
  return { seen, type };
}

test("a cached result is handed on without running the body, also in a later run of the engine", async () => {
  const { seen, type } = counting();
  const plan = await planOf("node a: test.count { x = 1\n @cache = { ttl: 1h } }", {
    types: [type],
  });
  const clock = createSimClock();
  const engine = createEngine({ host: clock });
  for (const cached of [undefined, true]) {
    const run = engine.run(plan);
    await clock.run();
    const { nodes } = run.snapshot().view;
    expect((await run.result).status).toBe("succeeded");
    expect(nodes[0]).toMatchObject({ output: { n: 1 }, ...(cached && { cached }) });
  }
  expect(seen.calls).toBe(1);
  await clock.advance(3_600_000);
  engine.run(plan);
  await clock.run();
  expect(seen.calls).toBe(2);
});

test("fields are part of the key, and of two at once only one runs", async () => {
  const { seen, type } = counting();
  const { events } = await finish(
    `node a: test.count { x = 1
  @cache = { ttl: 1h } }
node b: test.count { x = 1
  @cache = { ttl: 1h } }
node c: test.count { x = 2
  @cache = { ttl: 1h } }`,
    { types: [type] },
  );
  expect(seen.calls).toBe(2);
  expect(one(events, "node.succeeded", "b").cached).toBe(true);
  expect(kinds(events, "b")).toEqual(["node.started", "node.succeeded"]);
});

test("a key that is written out stands for the fields", async () => {
  const { seen, type } = counting();
  await finish(
    `input k: string
node a: test.count { x = 1
  @cache = { ttl: 1h, key: inputs.k } }
node b: test.count { x = 1
  @cache = { ttl: 1h, key: inputs.k } }`,
    { types: [type], inputs: { k: "same" } },
  );
  expect(seen.calls).toBe(1);
});

test("failures are not kept", async () => {
  const { seen, type } = counting();
  await finish(
    `node a: test.count { fail = true
  @cache = { ttl: 1h } }
node b: test.count { fail = true
  @cache = { ttl: 1h } }`,
    { types: [type], run: { onFailure: "finish" } },
  );
  expect(seen.calls).toBe(2);
});

test("a port keeps results beyond the engine, and one that fails counts as a miss", async () => {
  const kept = new Map<string, { port: string; output: Json }>();
  const port: CachePort = {
    get: async (key) => kept.get(key),
    set: async (key, value) => void kept.set(key, value),
  };
  const { seen, type } = counting();
  const text = "node a: test.count { x = 1\n @cache = { ttl: 1h } }";
  for (let i = 0; i < 2; i += 1) await finish(text, { types: [type], engine: { cache: port } });
  expect(seen.calls).toBe(1);
  expect(kept.size).toBe(1);
  const broken: CachePort = {
    get: () => Promise.reject(new Error("down")),
    set: () => {
      throw new Error("down");
    },
  };
  const { events } = await finish(text, { types: [type], engine: { cache: broken } });
  expect(outputOf(events, "a")).toEqual({ n: 2 });
  expect(one(events, "log")).toMatchObject({ level: "warn", code: "cache_failed" });
});
