/** PostgreSQL alone says which server drives a run. */
import { randomUUID } from "node:crypto";
import type { Dispatcher, Drive } from "@millrace/contracts";
import { createPostgresDispatcher, openPostgresStore } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { dispatcherConformance } from "@millrace/test-support/dispatcher";
import {
  type PostgresServer,
  sharedPostgres,
  startPostgres,
} from "@millrace/test-support/postgres";
import { expect, onTestFinished, test } from "vitest";
import { KEY, newClient, newSchema } from "./open.ts";

const PATIENCE = { timeout: 30_000, interval: 10 };

interface ServerOptions {
  readonly schema: string;
  readonly maxDrives?: number;
  readonly postgres?: PostgresServer;
}

/** The dispatcher of one more server; its store ends with it. */
async function openServer({ schema, maxDrives, postgres }: ServerOptions): Promise<Dispatcher> {
  const { url } = postgres ?? (await sharedPostgres());
  const store = await openPostgresStore({ url, schema, key: KEY, connections: 2 });
  const dispatcher = createPostgresDispatcher({ store, maxDrives });
  let closed: Promise<void> | undefined;
  return {
    get condition() {
      return dispatcher.condition;
    },
    ring: (runId, options) => dispatcher.ring(runId, options),
    serve: (drive) => dispatcher.serve(drive),
    close(options) {
      closed ??= dispatcher.close(options).then(() => store.close());
      return closed;
    },
  };
}

/** Serves until the test ends. */
async function serve(options: ServerOptions, drive: Drive): Promise<Dispatcher> {
  const dispatcher = await openServer(options);
  onTestFinished(() => dispatcher.close());
  await dispatcher.serve(drive);
  return dispatcher;
}

const newRuns = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

function newGate(): { readonly passed: Promise<void>; open(): void } {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}

describeWith("postgres")("over PostgreSQL", () => {
  const schema = newSchema();
  dispatcherConformance("postgres", async () => ({
    hasMany: true,
    open: () => openServer({ schema }),
  }));

  test("a server drives no more runs at a time than it is told, and misses none", async () => {
    const driven = new Set<string>();
    let [working, most] = [0, 0];
    const dispatcher = await serve({ schema: newSchema(), maxDrives: 2 }, async (run) => {
      working += 1;
      most = Math.max(most, working);
      await new Promise((resolve) => setTimeout(resolve, 5));
      working -= 1;
      driven.add(run);
      return "done";
    });
    const runs = newRuns(12);
    await Promise.all(runs.map((run) => dispatcher.ring(run)));
    await expect.poll(() => runs.filter((run) => !driven.has(run)), PATIENCE).toEqual([]);
    expect(most).toBe(2);
  });

  test("runs that are rung at one server are shared by all, and what one has no place for goes to others", async () => {
    const place = { schema: newSchema() };
    const gate = newGate();
    const drivenBy: number[] = [];
    const driveOf = (server: number): Drive => {
      return async () => {
        drivenBy.push(server);
        await gate.passed;
        return "done";
      };
    };
    const first = await serve(place, driveOf(0));
    await serve(place, driveOf(1));
    await serve({ ...place, maxDrives: 2 }, driveOf(2));
    const of = (server: number): number => drivenBy.filter((each) => each === server).length;
    for (const [at, run] of newRuns(6).entries()) {
      await first.ring(run);
      await expect.poll(() => drivenBy.length, PATIENCE).toBe(at + 1);
    }
    for (const run of newRuns(24)) await first.ring(run);
    await expect.poll(() => drivenBy.length, PATIENCE).toBe(30);
    // No server looks on while others work, however busy the machine is.
    expect(of(0)).toBeGreaterThan(3);
    expect(of(1)).toBeGreaterThan(3);
    expect(of(2)).toBe(2);
    gate.open();
  });

  test("a ring without a connection is refused and says so, until the database is back", async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.stop());
    const driven = new Set<string>();
    const server = { schema: newSchema(), postgres };
    const dispatcher = await serve(server, async (run) => {
      driven.add(run);
      return "done";
    });
    const [before, after] = newRuns(2) as [string, string];
    await dispatcher.ring(before, { delayMs: 1_500 });
    expect(dispatcher.condition).toBe("ok");
    await postgres.down();
    await expect(dispatcher.ring(after)).rejects.toMatchObject({
      code: "dispatcher_unavailable",
      retryable: true,
    });
    expect(dispatcher.condition).toBe("degraded");
    await postgres.up();
    const ring = (): Promise<string> => dispatcher.ring(after).then(() => "taken", String);
    await expect.poll(ring, PATIENCE).toBe("taken");
    await expect
      .poll(() => [before, after].filter((run) => !driven.has(run)), PATIENCE)
      .toEqual([]);
    await expect.poll(() => dispatcher.condition, PATIENCE).toBe("ok");
  });

  test("who has lost a run is told, and does not drive it again before that has ended", async () => {
    const place = { schema: newSchema() };
    const run = randomUUID();
    const told: string[] = [];
    const dispatcher = await serve(place, async (_run, { lost }) => {
      const isFirst = told.length === 0;
      told.push("begins");
      if (isFirst) {
        await new Promise<void>((resolve) => lost.addEventListener("abort", () => resolve()));
        told.push("lost");
      }
      return "done";
    });
    await dispatcher.ring(run);
    await expect.poll(() => told, PATIENCE).toEqual(["begins"]);
    // As if this server had stood still, and another one had taken the run and given it back.
    const client = await newClient((await sharedPostgres()).url);
    const free = "UPDATE %.drive_call SET holder = NULL, at = 0, turn = turn + 1000 WHERE run = $1";
    await client.query(free.replace("%", place.schema), [run]);
    await expect.poll(() => told, PATIENCE).toEqual(["begins", "lost", "begins"]);
  });
});

describeWith("postgres")("options of the dispatcher", () => {
  test("what is none is refused by name", async () => {
    const { url } = await sharedPostgres();
    const store = await openPostgresStore({ url, schema: newSchema(), key: KEY });
    onTestFinished(() => store.close());
    const wrong: [object, string][] = [
      [{ store, maxDrive: 1 }, 'unknown option "maxDrive"; did you mean "maxDrives"?'],
      [{ store, maxDrives: 0 }, '"maxDrives" must be a whole number from 1 to 10000'],
      [{ store: { ...store } }, '"store" must be what openPostgresStore has opened'],
    ];
    for (const [options, message] of wrong) {
      expect(() => createPostgresDispatcher(options as never)).toThrow(message);
    }
  });
});
