/** Databases and events of these tests. */
import type { EncodedEvent } from "@millrace/contracts";
import type { Database, Op } from "@millrace/store/sql";
import { openPostgresDatabase, type PostgresDatabaseOptions } from "@millrace/store-postgres";
import { type PostgresServer, sharedPostgres } from "@millrace/test-support/postgres";
import pg from "pg";
import { onTestFinished } from "vitest";

export const KEY: Uint8Array = new Uint8Array(32).fill(7);

let schemas = 0;

/** A name that no other test has. */
export function newSchema(): string {
  schemas += 1;
  return `test_${process.pid}_${schemas}`;
}

/** What a test changes of an opening. `server`: default the one that all tests share. */
export type OpenOptions = Partial<PostgresDatabaseOptions> & { readonly server?: PostgresServer };

/** Opens a database, in a new schema unless one is given; it is closed with the test. */
export async function openDatabase(options: OpenOptions = {}): Promise<Database> {
  const { server = await sharedPostgres(), ...rest } = options;
  const database = await openPostgresDatabase({
    url: server.url,
    key: KEY,
    schema: newSchema(),
    ...rest,
  });
  onTestFinished(() => database.close());
  return database;
}

/** A client of the test's own, ended with it. */
export async function newClient(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** What appends to a run, as the journal of a store does. */
export function appendOps(
  run: number,
  { epoch, after, texts }: { epoch: number; after: number; texts: readonly string[] },
): Op[] {
  const events = texts.map((text, index) => {
    const event = { v: 1, kind: "log", ts: 1_000 + index, seq: after + 1 + index, message: text };
    const line = Buffer.from(JSON.stringify(event));
    return { seq: event.seq, kind: event.kind, line, event } as unknown as EncodedEvent;
  });
  return [{ lines: { run, runId: `r${run}`, epoch, after, events } }];
}

/** What makes a run with this number. */
export function runOps(no: number, epoch: number): Op[] {
  return [
    {
      sql: "INSERT INTO graph(digest, json) VALUES(?, ?) ON CONFLICT DO NOTHING",
      rows: [["sha256:a", "{}"]],
    },
    {
      sql:
        "INSERT INTO run(no, id, flow_id, graph, status, trigger, inputs, options, epoch, created_at) " +
        "VALUES(?, ?, 'f', 'sha256:a', 'pending', 'api', '{}', '{}', ?, 0)",
      rows: [[no, `r${no}`, epoch]],
      need: "run_exists",
    },
  ];
}

/** The texts of a run's log. */
export async function textsOf(database: Database, no: number): Promise<string[]> {
  const rows = await database.all("SELECT line FROM journal WHERE run = ? ORDER BY seq", [no]);
  return rows.map(({ line }) => JSON.parse(Buffer.from(line as Uint8Array).toString()).message);
}
