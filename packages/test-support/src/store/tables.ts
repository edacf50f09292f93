/** Request keys, settings, templates, hubs, webhooks, connections. */
import { describe, expect, test } from "vitest";
import type { StoreBench } from "./bench.ts";
import { startRun } from "./logs.ts";

export function tablesSuite({ newStore, testRestart }: StoreBench): void {
  const BEGIN = 1_770_000_000_000;
  const CALLERS = 50;

  describe("request keys", () => {
    const request = { scope: "token run_flow", key: "k", fingerprint: new Uint8Array([1, 2, 3]) };

    testRestart(
      "of many with one key one works, the others get its answer, also after a restart",
      async (place) => {
        const first = await place.open();
        const seen = await Promise.all(
          Array.from({ length: CALLERS }, () => first.idempotency.begin(request)),
        );
        expect(seen.filter(({ state }) => state === "new")).toHaveLength(1);
        expect(seen.filter(({ state }) => state === "working")).toHaveLength(CALLERS - 1);
        await first.idempotency.finish(request.scope, request.key, { runId: "r1" });
        await first.close();
        const { idempotency } = await place.open();
        expect(await idempotency.begin(request)).toEqual({
          state: "done",
          answer: { runId: "r1" },
        });
        expect(await idempotency.begin({ ...request, fingerprint: new Uint8Array([9]) })).toEqual({
          state: "mismatch",
        });
        expect(await idempotency.begin({ ...request, scope: "other" })).toEqual({ state: "new" });
      },
    );

    test("one that was abandoned or is too old is new again", async () => {
      let time = BEGIN;
      const { idempotency } = await newStore({ now: () => time });
      await idempotency.begin(request);
      await idempotency.abandon(request.scope, request.key);
      expect(await idempotency.begin({ ...request, ttlMs: 1_000 })).toEqual({ state: "new" });
      time += 999;
      expect(await idempotency.begin(request)).toMatchObject({ state: "working" });
      expect(await idempotency.expire()).toBe(0);
      time += 1;
      expect(await idempotency.begin(request)).toEqual({ state: "new" });
      time += 86_400_000;
      expect(await idempotency.expire()).toBe(1);
    });
  });

  testRestart(
    "settings are set and taken away together, and outlive the process",
    async (place) => {
      const first = await place.open();
      await first.settings.set({
        "run.concurrency": 4,
        "ai.defaultModels": { a: "b" },
        gone: null,
      });
      await first.settings.set({ "run.concurrency": 8, gone: undefined });
      await first.close();
      const { settings } = await place.open();
      expect(await settings.all()).toEqual({
        "ai.defaultModels": { a: "b" },
        "run.concurrency": 8,
      });
    },
  );

  testRestart(
    "variables are kept by environment beside the settings, and those of one count over those of all",
    async (place) => {
      const first = await place.open();
      await first.settings.set({ "run.concurrency": 4 });
      await first.vars.set({ name: "region", value: "eu" });
      await first.vars.set({ name: "region", environment: "prod", value: ["us", null] });
      await first.vars.set({ name: "none", value: null });
      await first.close();
      const { settings, vars } = await place.open();
      expect(await vars.of(undefined)).toEqual({ region: "eu", none: null });
      expect(await vars.of("prod")).toEqual({ region: ["us", null], none: null });
      expect(await vars.delete({ name: "region", environment: "prod" })).toBe(true);
      expect(await vars.delete({ name: "region", environment: "prod" })).toBe(false);
      expect(await vars.list()).toEqual([
        { name: "none", value: null },
        { name: "region", value: "eu" },
      ]);
      expect((await settings.all())["run.concurrency"]).toBe(4);
    },
  );

  describe("templates", () => {
    const base = {
      slug: "digest",
      name: "Digest",
      description: "every morning",
      tags: ["mail"],
      source: { kind: "local" },
    } as const;
    const flow = (seed: number) =>
      ({
        digest: `sha256:${String(seed).repeat(64)}`,
        dsl: `flow ${seed}`,
        graph: startRun(seed).graph,
      }) as const;

    test("another graph is a new version; versions never change; the same graph makes none", async () => {
      let time = BEGIN;
      const { templates } = await newStore({ now: () => time });
      expect(await templates.get("digest")).toBeNull();
      const one = await templates.save({ ...base, ...flow(1) }, null);
      expect(one).toMatchObject({
        ...base,
        version: 1,
        updatedAt: new Date(BEGIN).toISOString(),
        ...flow(1),
      });
      time += 1_000;
      expect(await templates.save({ ...base, ...flow(1), name: "New" }, 1)).toMatchObject({
        version: 1,
        name: "New",
      });
      expect(await templates.save({ ...base, ...flow(2) }, 1)).toMatchObject({
        version: 2,
        ...flow(2),
      });
      expect(await templates.save({ ...base, ...flow(1) }, 2)).toMatchObject({
        version: 3,
        ...flow(1),
      });
      expect((await templates.versions("digest")).map(({ version }) => version)).toEqual([3, 2, 1]);
      expect(await templates.version("digest", 1)).toEqual({
        slug: "digest",
        version: 1,
        createdAt: new Date(BEGIN).toISOString(),
        ...flow(1),
      });
      expect(await templates.version("digest", 4)).toBeNull();
      expect((await templates.list()).map(({ slug, version }) => [slug, version])).toEqual([
        ["digest", 3],
      ]);
    });

    test("names and texts with NUL are kept to their end", async () => {
      const { templates } = await newStore();
      await templates.save({ ...base, ...flow(1), name: "a\0b", dsl: "# a\0b\nflow 1 x" }, null);
      const kept = { name: "a␀b", dsl: "# a␀b\nflow 1 x" };
      expect(await templates.get("digest")).toMatchObject(kept);
    });

    test("who has seen an older version saves and deletes nothing", async () => {
      const { templates } = await newStore();
      const saved = await Promise.all(
        [1, 2, 3].map((seed) => templates.save({ ...base, ...flow(seed) }, null)),
      );
      expect(saved.filter((each) => each !== null)).toHaveLength(1);
      expect(await templates.save({ ...base, ...flow(4) }, null)).toBeNull();
      expect(await templates.save({ ...base, ...flow(4) }, 7)).toBeNull();
      expect(await templates.delete("digest", 7)).toBe(false);
      expect(await templates.versions("digest")).toHaveLength(1);
      expect(await templates.delete("digest", 1)).toBe(true);
      expect(await templates.get("digest")).toBeNull();
      expect(await templates.versions("digest")).toEqual([]);
      expect(await templates.save({ ...base, ...flow(5) }, null)).toMatchObject({ version: 1 });
    });

    test("a run keeps the graph that it started with", async () => {
      const { templates, journal } = await newStore();
      await templates.save({ ...base, ...flow(1) }, null);
      await journal.create(startRun(1, { template: "digest" }));
      await templates.save({ ...base, ...flow(2) }, 1);
      await templates.delete("digest", 2);
      expect((await journal.load("r1"))?.graph).toEqual(flow(1).graph);
    });
  });

  test("hubs keep their index, whose serial never falls", async () => {
    const { hubs } = await newStore();
    const taken = { syncedAt: new Date(BEGIN).toISOString() };
    const hub = {
      id: "h",
      name: "Hub",
      kind: "https",
      url: "https://hub.test/",
      provides: ["templates"],
      enabled: true,
    } as const;
    const item = {
      id: "a",
      kind: "template",
      version: "1.0.0",
      digest: `sha256:${"1".repeat(64)}`,
      bytes: 9,
      path: "a.flow",
      title: "A",
    } as const;
    expect(await hubs.setIndex("h", { ...taken, serial: 1, items: [item] })).toBe(false);
    await hubs.put(hub);
    expect(
      await hubs.setIndex("h", { ...taken, serial: 2, items: [item, { ...item, id: "b" }] }),
    ).toBe(true);
    expect(await hubs.setIndex("h", { ...taken, serial: 1, items: [] })).toBe(false);
    expect((await hubs.items("h")).map(({ id }) => id)).toEqual(["a", "b"]);
    expect(await hubs.get("h")).toEqual({ ...hub, ...taken, serial: 2 });
    await hubs.put({ ...hub, enabled: false, serial: 0 });
    expect(await hubs.get("h")).toEqual({ ...hub, enabled: false, serial: 2 });
    expect(await hubs.setIndex("h", { ...taken, serial: 2, items: [item] })).toBe(true);
    expect(await hubs.items("h")).toEqual([item]);
    await hubs.put(hub, { index: "drop" });
    expect([await hubs.get("h"), await hubs.items("h")]).toEqual([hub, []]);
    expect(await hubs.delete("h")).toBe(true);
    expect(await hubs.delete("h")).toBe(false);
    expect([await hubs.list(), await hubs.items("h")]).toEqual([[], []]);
  });

  test("a webhook is found by the hash of its token", async () => {
    const { webhooks } = await newStore();
    const webhook = { id: "w", tokenHash: "aa", body: { template: "digest" } };
    await webhooks.put(webhook);
    expect(await webhooks.byTokenHash("aa")).toEqual(webhook);
    await webhooks.put({ ...webhook, tokenHash: "bb" });
    expect([await webhooks.byTokenHash("aa"), (await webhooks.get("w"))?.tokenHash]).toEqual([
      null,
      "bb",
    ]);
    expect(await webhooks.list()).toHaveLength(1);
    expect(await webhooks.delete("w")).toBe(true);
    expect(await webhooks.delete("w")).toBe(false);
  });

  test("of many calls with one signature one starts a run, until it is forgotten", async () => {
    let time = BEGIN;
    const { journal, runs } = await newStore({ now: () => time });
    const signature = { hash: "s", ttlMs: 300_000 };
    const start = (seed: number) =>
      journal.create(startRun(seed), { signature }).then(
        () => "started",
        ({ code }) => code,
      );
    const seeds = Array.from({ length: CALLERS }, (_, i) => i + 1);
    const said = await Promise.all(seeds.map(start));
    expect(said.filter((each) => each === "started")).toHaveLength(1);
    expect(said.filter((each) => each === "signature_used")).toHaveLength(CALLERS - 1);
    expect(await runs.live()).toHaveLength(1);
    time += 299_999;
    expect(await start(100)).toBe("signature_used");
    time += 1;
    expect(await start(100)).toBe("started");
  });

  test("connections keep their status and nothing secret", async () => {
    const { connections } = await newStore();
    const body = { service: "mailer" };
    const mail = { slug: "mail", status: "connected", scope: "read", expiresAt: BEGIN, body };
    await connections.put(mail);
    await connections.put({ ...mail, slug: "crm", scope: null, expiresAt: null });
    await connections.put({ ...mail, status: "expired" });
    expect(await connections.list()).toEqual([
      { ...mail, slug: "crm", scope: null, expiresAt: null },
      { ...mail, status: "expired" },
    ]);
    expect(await connections.delete("mail")).toBe(true);
    expect(await connections.delete("mail")).toBe(false);
  });
}
