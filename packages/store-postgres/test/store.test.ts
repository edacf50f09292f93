import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { EncodedEvent } from "@millrace/contracts";
import type { Store } from "@millrace/store/sql";
import { openPostgresStore, type PostgresStoreOptions } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { bundleProgram } from "@millrace/test-support/program";
import { linesOf, logOf, startRun } from "@millrace/test-support/store";
import { expect, onTestFinished, test, vi } from "vitest";
import { KEY, newClient, newSchema } from "./open.ts";

const LONG_MS = 600_000;

async function newStore(options: Partial<PostgresStoreOptions> = {}): Promise<Store> {
  const { url } = await sharedPostgres();
  const store = await openPostgresStore({ url, key: KEY, schema: newSchema(), ...options });
  onTestFinished(() => store.close());
  return store;
}

/** A server that appends two events of run r5, and goes on after it was stopped for more than a second. */
const FROZEN = `
import { openPostgresStore } from "@millrace/store-postgres";
import { logOf, startRun } from "@millrace/test-support/store";
const [url, schema] = process.argv.slice(2);
const { journal } = await openPostgresStore({ url, schema, key: new Uint8Array(32).fill(7) });
const log = logOf(5);
const { epoch } = await journal.create(startRun(5));
await journal.append("r5", 0, log.slice(0, 2), { epoch, sync: true });
console.log(epoch);
let last = Date.now();
const watch = setInterval(async () => {
  const gap = Date.now() - last;
  last = Date.now();
  if (gap < 1_000) return;
  clearInterval(watch);
  const end = (error) => console.log(error.code);
  await journal.append("r5", 2, log.slice(2, 3), { epoch, sync: true }).then(() => console.log("stored"), end);
  process.exit();
}, 20);
`;

/** Two servers of one store. */
async function twoServers(): Promise<readonly [Store, Store]> {
  const schema = newSchema();
  return [await newStore({ schema }), await newStore({ schema })];
}

const textsOf = (events: readonly EncodedEvent[]): string[] =>
  events.map(({ line }) => Buffer.from(line).toString());

describeWith("postgres")("a store in PostgreSQL", () => {
  test("a run that one server drives is followed at another one: the same bytes, each once", async () => {
    const [driver, reader] = await twoServers();
    const log = logOf(11);
    const { epoch } = await driver.journal.create(startRun(11));
    const told: EncodedEvent[] = [];
    const kinds = new Set<string>();
    reader.journal.follow("r11", 0, (events) => told.push(...events));
    reader.feed.listen((some) => {
      for (const kind of some) kinds.add(kind);
    });
    for (let at = 0; at < log.length; at += 3) {
      await driver.journal.append("r11", at, log.slice(at, at + 3), { epoch, sync: true });
      expect(await linesOf(reader.journal, "r11")).toHaveLength(Math.min(at + 3, log.length));
    }
    await vi.waitFor(() => expect(told.at(-1)?.kind).toBe("summary"), 30_000);
    expect(textsOf(told)).toEqual(textsOf(log));
    await vi.waitFor(() => expect(kinds).toContain("summary"), 30_000);
    const entries = await reader.feed.read(0);
    expect(entries.map(({ line }) => Buffer.from(line).toString())).toEqual(
      textsOf(log.filter(({ kind }) => /^(?:run\.|confirm\.|summary$)/.test(kind))),
    );
  });

  test("who follows a run that changes its driver gets the last events of the one before the next", async () => {
    const [one, other] = await twoServers();
    const { epoch } = await one.journal.create(startRun(11));
    const log = logOf(11);
    const told: EncodedEvent[] = [];
    other.journal.follow("r11", 0, (events) => told.push(...events));
    for (let at = 0; at < 9; at += 3) {
      await one.journal.append("r11", at, log.slice(at, at + 3), { epoch, sync: true });
    }
    await one.journal.release("r11", epoch);
    const taken = await other.journal.lease("r11", "other", LONG_MS);
    const rest = { epoch: taken?.epoch ?? 0, sync: true };
    for (let at = 9; at < log.length; at += 3) {
      await other.journal.append("r11", at, log.slice(at, at + 3), rest);
    }
    await vi.waitFor(() => expect(told.at(-1)?.kind).toBe("summary"), 30_000);
    expect(textsOf(told)).toEqual(textsOf(log));
  });

  test("what one server stores is read at another one, and a start with a used key is refused there", async () => {
    const [one, other] = await twoServers();
    await one.settings.set({ "retention.runDays": 7 });
    expect(await other.settings.all()).toEqual({ "retention.runDays": 7 });
    const request = { scope: "start", key: "k", fingerprint: new Uint8Array([1, 2]) };
    const starts = [one, other, one, other].map((store, index) =>
      store.journal.create({ ...startRun(1), runId: `s${index}` }, { request }).then(
        () => "started",
        (error: { code: string }) => error.code,
      ),
    );
    expect((await Promise.all(starts)).sort()).toEqual([
      ...["key_used", "key_used", "key_used", "started"],
    ]);
    const page = await other.runs.list({ limit: 10 });
    expect(page.items).toHaveLength(1);
    await other.settings.set({ "retention.runDays": undefined });
    expect(await one.settings.all()).toEqual({});
  });

  test("a run is taken from a server that stands still, and when that goes on it writes nothing more", async () => {
    const schema = newSchema();
    const other = await newStore({ schema });
    const { url } = await sharedPostgres();
    const program = await bundleProgram(FROZEN, import.meta.url);
    const child = spawn(process.execPath, [program, url, schema], { stdio: "pipe" });
    onTestFinished(() => void child.kill("SIGKILL"));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const said = async (): Promise<string> => (await lines.next()).value;
    const epoch = Number(await said());
    expect(await other.journal.lease("r5", "other", LONG_MS)).toBeNull();
    child.kill("SIGSTOP");
    const taken = await vi.waitFor(
      async () => {
        const lease = await other.journal.lease("r5", "other", LONG_MS);
        if (lease === null) throw new Error("it is held");
        return lease;
      },
      { timeout: 30_000, interval: 200 },
    );
    expect(taken.epoch).toBeGreaterThan(epoch);
    child.kill("SIGCONT");
    expect(await said()).toBe("lease_lost");
    const log = logOf(5);
    await other.journal.append("r5", 2, log.slice(2), { epoch: taken.epoch, sync: true });
    expect(await linesOf(other.journal, "r5")).toEqual(textsOf(log));
  });

  test("what people said to a run goes with its log, and with the run", async () => {
    const schema = newSchema();
    const { url } = await sharedPostgres();
    const store = await openPostgresStore({ url, key: KEY, schema });
    onTestFinished(() => store.close());
    const client = await newClient(url);
    const left = async () =>
      (await client.query(`SELECT count(*)::int AS rows FROM ${schema}.inbox`)).rows[0].rows;
    for (const no of [5, 11]) {
      const log = logOf(no);
      const { epoch } = await store.journal.create(startRun(no));
      await store.journal.append(`r${no}`, 0, log, { epoch, sync: true });
      const id = await store.inbox.send(`r${no}`, { secret: "opinion" });
      await store.inbox.answer({ id, runId: `r${no}` }, null);
    }
    expect(await left()).toBe(2);
    expect(await store.runs.delete("r5")).toBe("deleted");
    expect(await left()).toBe(1);
    await store.retain({ journalRuns: 0, runDays: 100_000 });
    expect(await store.runs.summary("r11")).not.toBeNull();
    expect(await left()).toBe(0);
  });

  test("the last run of a flow may be deleted at one server while another one starts with that flow", async () => {
    const [one, other] = await twoServers();
    const header = startRun(5);
    for (let round = 0; round < 20; round += 1) {
      const [old, next] = [`old${round}`, `new${round}`];
      const { epoch } = await one.journal.create({ ...header, runId: old });
      const log = logOf(5);
      await one.journal.append(old, 0, log, { epoch, sync: true });
      const [, { epoch: begun }] = await Promise.all([
        one.runs.delete(old),
        other.journal.create({ ...header, runId: next }),
      ]);
      expect((await other.runs.header(next))?.graph).toEqual(header.graph);
      await other.journal.append(next, 0, log, { epoch: begun, sync: true });
      expect(await other.runs.delete(next)).toBe("deleted");
    }
  });

  test("a server that closes leaves its runs to others at once", async () => {
    const [one, other] = await twoServers();
    await one.journal.create(startRun(5));
    expect(await other.journal.lease("r5", "other", LONG_MS)).toBeNull();
    await one.close();
    expect(await other.journal.lease("r5", "other", LONG_MS)).not.toBeNull();
    expect((await other.journal.load("r5"))?.runId).toBe("r5");
  });

  test("a secret input opens at every server, and is nowhere in the tables", async () => {
    const schema = newSchema();
    const [one, other] = [await newStore({ schema }), await newStore({ schema })];
    await one.journal.create(startRun(3));
    await one.journal.putValue("r3", "n#1", { token: "s3cret" }, { private: true });
    expect((await other.journal.load("r3"))?.privateValues).toEqual({ "n#1": { token: "s3cret" } });
    const client = await newClient((await sharedPostgres()).url);
    const { rows } = await client.query(`SELECT body FROM ${schema}.private_value`);
    expect(Buffer.from(rows[0].body).toString("latin1")).not.toContain("s3cret");
  });
});
