/** Two servers never work under one key at once, also when one of them is killed. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { SharedStore } from "@millrace/store/sql";
import { openPostgresStore } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { bundleProgram } from "@millrace/test-support/program";
import { expect, onTestFinished, test } from "vitest";
import { keyedEngine } from "./keyed-work.ts";
import { KEY, newClient, newSchema } from "./open.ts";

async function newServer(schema: string): Promise<SharedStore> {
  const { url } = await sharedPostgres();
  const store = await openPostgresStore({ url, key: KEY, schema });
  onTestFinished(() => store.close());
  return store;
}

/** Work that says how much of it there is at one time. */
function createWork(): { readonly seen: { now: number; most: number }; work(): Promise<void> } {
  const seen = { now: 0, most: 0 };
  return {
    seen,
    async work() {
      seen.now += 1;
      seen.most = Math.max(seen.most, seen.now);
      await sleep(5);
      seen.now -= 1;
    },
  };
}

/** A server that works under the key until it is killed. */
const STUCK = `
import { openPostgresStore } from "@millrace/store-postgres";
import { keyedEngine } from "./keyed-work.ts";
const [url, schema] = process.argv.slice(2);
const store = await openPostgresStore({ url, schema, key: new Uint8Array(32).fill(7) });
const { engine, plan } = await keyedEngine(store, () => {
  console.log("works");
  return new Promise(() => {});
});
engine.run(plan, {}, { runId: "killed" });
`;

async function claimsIn(schema: string): Promise<unknown[]> {
  const client = await newClient((await sharedPostgres()).url);
  return (await client.query(`SELECT holder, granted FROM ${schema}.key_claim`)).rows;
}

describeWith("postgres")("keys of several servers", () => {
  test("runs of two servers work under a key one after the other, and leave nothing behind", async () => {
    const schema = newSchema();
    const { seen, work } = createWork();
    const servers = [await newServer(schema), await newServer(schema)];
    const results = await Promise.all(
      servers.map(async (store, at) => {
        const { engine, plan } = await keyedEngine(store, work);
        const runs = [1, 2, 3].map((n) => engine.run(plan, {}, { runId: `r${at}_${n}` }));
        const summaries = await Promise.all(runs.map((run) => run.result));
        await engine.close();
        return summaries.map(({ status }) => status);
      }),
    );
    expect(results.flat()).toEqual(Array.from({ length: 6 }, () => "succeeded"));
    expect(seen).toEqual({ now: 0, most: 1 });
    await expect.poll(() => claimsIn(schema)).toEqual([]);
  });

  test("a key stays with the run of a server that is killed, until another one has driven it", async () => {
    const schema = newSchema();
    const { url } = await sharedPostgres();
    const store = await newServer(schema);
    const program = await bundleProgram(STUCK, import.meta.url);
    const child = spawn(process.execPath, [program, url, schema], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    for await (const line of createInterface(child.stdout)) if (line === "works") break;
    const { seen, work } = createWork();
    const { engine, plan } = await keyedEngine(store, work);
    const waits = engine.run(plan, {}, { runId: "waits" });
    const kinds: string[] = [];
    const reading = (async () => {
      for await (const batch of waits.batches()) kinds.push(...batch.map(({ kind }) => kind));
    })();
    await expect.poll(() => kinds).toContain("node.waiting");
    child.kill("SIGKILL");
    const resumed = async () => {
      expect(seen.most).toBe(0); // nobody has the key of a run that only waits for a driver
      return engine.resume("killed", { plan }).catch(() => undefined);
    };
    let run = await resumed();
    for (; run === undefined; run = await resumed()) await sleep(100);
    const ends: string[] = [];
    await Promise.all(
      [run, waits].map(async ({ id, result }) => {
        expect(await result).toMatchObject({ status: "succeeded" });
        ends.push(id);
      }),
    );
    await reading;
    expect(seen).toEqual({ now: 0, most: 1 });
    expect(ends).toContain("killed");
    await engine.close();
  }, 60_000);

  test("a waiting run that nobody drives is in nobody's way", async () => {
    const schema = newSchema();
    const first = await newServer(schema);
    const second = await newServer(schema);
    const gone = await keyedEngine(first, () => new Promise(() => {}));
    gone.engine.run(gone.plan, {}, { runId: "holds" }).result.catch(() => {});
    await expect
      .poll(() => claimsIn(schema))
      .toEqual(expect.arrayContaining([expect.objectContaining({ granted: "1" })]));
    await gone.engine.close({ leave: true });
    const { seen, work } = createWork();
    const { engine, plan } = await keyedEngine(second, work);
    const other = engine.run(plan, {}, { runId: "other" });
    const held = await engine.resume("holds", { plan });
    expect(await held.result).toMatchObject({ status: "succeeded" });
    expect(await other.result).toMatchObject({ status: "succeeded" });
    expect(seen).toEqual({ now: 0, most: 1 });
    await engine.close();
  });
});
