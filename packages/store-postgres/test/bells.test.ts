/** When runs are to be driven: a run that has to go on is found, whatever is lost. */
import { openPostgresStore } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { startRun } from "@millrace/test-support/store";
import { expect, onTestFinished, test } from "vitest";
import { KEY, newClient, newSchema } from "./open.ts";

const LONG_MS = 600_000;

/** Two servers of one store with the run r5, which nobody has. */
async function twoServers() {
  const schema = newSchema();
  const { url } = await sharedPostgres();
  const open = async () => {
    const store = await openPostgresStore({ url, schema, key: KEY, connections: 4 });
    onTestFinished(() => store.close());
    return store;
  };
  const [one, other] = [await open(), await open()];
  await one.journal.create(startRun(5), {}, { isFree: true });
  const client = await newClient(url);
  await client.query(`SET search_path = ${schema}`);
  return { one, other, client };
}

type Servers = Awaited<ReturnType<typeof twoServers>>;

async function bellOf({ client }: Servers): Promise<number | null> {
  const { rows } = await client.query("SELECT bell_at FROM run");
  return rows[0].bell_at;
}

/** A server takes the run, and leaves it. */
async function leave({ journal, bells }: Servers["one"], bellAt: number | null): Promise<void> {
  const lease = await journal.lease("r5", "owner", LONG_MS);
  await journal.release("r5", lease?.epoch ?? 0);
  await bells.set("r5", bellAt);
}

describeWith("postgres")("the bell of a run", () => {
  test("is set as long as a server has the run, so that it is found when the server dies", async () => {
    const servers = await twoServers();
    await leave(servers.one, null);
    expect(await bellOf(servers)).toBeNull();
    await servers.other.journal.lease("r5", "other", LONG_MS);
    expect(await bellOf(servers)).not.toBeNull();
  });

  test("is not touched by a server that the run was taken from", async () => {
    const servers = await twoServers();
    await leave(servers.one, null);
    await servers.other.journal.lease("r5", "other", LONG_MS);
    const bell = await bellOf(servers);
    await servers.one.bells.set("r5", null);
    expect(await bellOf(servers)).toBe(bell);
    await leave(servers.one, null); // held by the other one: nothing is left
    expect(await bellOf(servers)).toBe(bell);
  });

  test("stays for a request that is stored at the moment in which the run is left", async () => {
    const servers = await twoServers();
    const { one, client } = servers;
    await leave(one, null);
    await client.query("BEGIN");
    await client.query("UPDATE run SET bell_at = 7");
    await client.query(
      "INSERT INTO inbox(run, id, message, created_at) SELECT no, 'm', '{}', 0 FROM run",
    );
    const setting = one.bells.set("r5", null);
    await expect
      .poll(
        async () =>
          (
            await client.query(
              "SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))",
            )
          ).rowCount,
      )
      .toBe(1);
    await client.query("COMMIT");
    await setting;
    expect(Number(await bellOf(servers))).toBe(7);
  });
});
