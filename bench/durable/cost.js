// Counts what servers that share PostgreSQL ask of it: transactions, bytes of its log and connections, at rest and for each run. Counts
// depend little on how busy the machine is. Prints a table of Markdown.
// Usage: node cost.js [--servers 3] [--runs 20] [--rest 30]   --rest: seconds in which the servers have nothing to do
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createServer } from "@millrace/server";
import { loadHelper } from "./load-helper.js";

const STEPS = 20;
const SETTLE_MS = 2_000; // until the numbers of PostgreSQL are those of all sessions

const { values } = parseArgs({
  options: {
    servers: { type: "string", default: "3" },
    runs: { type: "string", default: "20" },
    rest: { type: "string", default: "30" },
  },
});
const [count, runs, rest] = [values.servers, values.runs, values.rest].map(Number);

const chain = (nodeOf, end) =>
  `flow 1 chain\n\n${Array.from({ length: STEPS }, (_, at) => nodeOf(at)).join("\n")}\n${end}`;
const FLOWS = {
  "20 steps without an effect": chain(
    (at) => `node s${at}: transform {\n  value = ${at === 0 ? 1 : `s${at - 1}.value + 1`}\n}\n`,
    `output n = s${STEPS - 1}.value\n`,
  ),
  "20 steps that write a file": chain(
    (at) => `node s${at}: file.write {\n  path = "\${run.id}-${at}"\n  content = "x"\n}\n`,
    Array.from({ length: STEPS - 1 }, (_, at) => `s${at} -> s${at + 1}\n`).join(""),
  ),
};

const { startPostgres } = await loadHelper("postgres");
const awake = setInterval(() => {}, 1_000); // the server's process alone keeps nobody waiting
const postgres = await startPostgres();
const { Client } = createRequire(import.meta.resolve("@millrace/store-postgres"))("pg");
const client = new Client({ connectionString: postgres.url });
await client.connect();

async function numbers() {
  await sleep(SETTLE_MS);
  await client.query("SELECT pg_stat_clear_snapshot()");
  const { rows } = await client.query(`
    SELECT xact_commit::float8 AS transactions, (pg_current_wal_lsn() - '0/0')::float8 AS bytes,
           (SELECT count(*) - 1 FROM pg_stat_activity WHERE datname = current_database())::float8 AS connections
    FROM pg_stat_database WHERE datname = current_database()`);
  return { ...rows[0], at: performance.now() };
}

const folder = mkdtempSync(join(tmpdir(), "millrace-cost-"));
const key = randomBytes(32);
const log = Object.fromEntries(["debug", "info", "warn", "error"].map((name) => [name, () => {}]));
const servers = [];
for (let at = 0; at < count; at += 1) {
  const options = { credentials: { store: "memory" }, files: { root: folder }, log };
  servers.push(
    await createServer({
      ...options,
      store: join(folder, `server-${at}`),
      cluster: { url: postgres.url, key },
    }),
  );
}

const before = await numbers();
await sleep(rest * 1_000);
const after = await numbers();
const seconds = (after.at - before.at) / 1_000;
const idle = (after.transactions - before.transactions) / seconds;
const rows = [
  ["one server at rest, a second", idle / count, (after.bytes - before.bytes) / seconds / count],
];
for (const [name, dsl] of Object.entries(FLOWS)) {
  const begun = await numbers();
  // An answer that waits for the end asks the store no more than a start does.
  const ends = Array.from({ length: runs }, async (_, at) => {
    const answer = await servers[at % count].request("/api/runs?waitMs=60000", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ dsl }),
    });
    const { summary } = await answer.json();
    if (summary?.status !== "succeeded") throw new Error(`a run of ${name} did not succeed`);
  });
  await Promise.all(ends);
  const ended = await numbers();
  const own = ended.transactions - begun.transactions - (idle * (ended.at - begun.at)) / 1_000;
  rows.push([`a run of ${name}`, own / runs, (ended.bytes - begun.bytes) / runs]);
}
const { connections } = await numbers();
for (const server of servers) await server.close();
await client.end();
await postgres.stop();
clearInterval(awake);
rmSync(folder, { recursive: true, force: true });

const lines = rows.map(
  ([name, transactions, bytes]) =>
    `| ${name} | ${transactions.toFixed(1)} | ${Math.round(bytes)} |`,
);
process.stdout.write(
  `| ${count} servers on PostgreSQL, ${runs} runs of each kind | transactions | bytes of log |\n| --- | --: | --: |\n${lines.join("\n")}\n\n${connections / count} connections of each server\n`,
);
