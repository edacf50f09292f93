// What servers that share PostgreSQL cost: a step, a hundred runs at once and a takeover beside a service made with Restate's SDK alone,
// on the same three nodes; a log at another server; what the servers ask for while they have nothing to do.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { fileOf } from "@millrace/test-support/programs";
import { loadHelper } from "./load-helper.js";

const CHILD = fileURLToPath(new URL("cluster-child.js", import.meta.url));
const SERVERS = 3;
const STEPS = 20;
const ITEMS = 5_000;
const REST_MS = 20_000;
const LOOK_MS = 20;
const SETTLE_MS = 2_000; // until the numbers of PostgreSQL are those of all sessions
const TICKS = 100; // of a second, in /proc

const round = (value) => Math.round(value * 100) / 100;

async function timed(work) {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Steps with the effect, one after another. */
function stepsOf(count, { ms = 0, file = "" } = {}) {
  const fields = `{\n  ms = ${ms}\n  file = ${JSON.stringify(file)}\n}`;
  const ids = Array.from({ length: count }, (_, at) => `s${at}`);
  const nodes = ids.map((id) => `node ${id}: bench.effect ${fields}\n`).join("\n");
  return `flow 1 steps\n\n${nodes}\n${ids.join(" -> ")}\n`;
}

const PURE = `flow 1 pure\n\n${Array.from({ length: STEPS }, (_, at) => `node s${at}: transform {\n  value = ${at === 0 ? 1 : `s${at - 1}.value + 1`}\n}\n`).join("\n")}\noutput n = s${STEPS - 1}.value\n`;
const LONG = `flow 1 long\n\nnode all: map {\n  items = range(0, ${ITEMS})\n  body {\n    node one: transform {\n      value = item\n    }\n    output = one.value\n  }\n}\n\noutput n = all.count\n`;

/** Three servers in processes of their own, and what they stand on. */
async function startCluster(kind) {
  const { startClusterGround } = await loadHelper("executor");
  const { startBalancer } = await loadHelper("restate");
  const { freePorts } = await loadHelper("ports");
  const awake = setInterval(() => {}, 1_000); // what PostgreSQL is asked for keeps nobody waiting
  const ground = await startClusterGround(SERVERS, { kind });
  const folder = mkdtempSync(join(tmpdir(), "millrace-cluster-"));
  const ports = kind === "restate" ? await freePorts(SERVERS) : Array(SERVERS).fill(0);
  const servers = await Promise.all(
    ports.map(async (port, at) => {
      const words = [CHILD, join(folder, String(at)), ground.optionOf(at), String(port)];
      const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
      process.once("exit", () => child.kill("SIGKILL")); // also of a case that fails
      let url = "";
      for await (const chunk of child.stdout.setEncoding("utf8")) {
        url += chunk;
        if (url.endsWith("\n")) break;
      }
      return { child, url: url.trim() };
    }),
  );
  const balancer = await startBalancer();
  const { ingress = [], admin = [] } = ground.restate ?? {};
  if (kind === "restate") {
    for (const port of ports) balancer.targets.add(port);
    await sent(`${admin[0]}/deployments`, { uri: balancer.url });
  }

  const at = (n) => servers[n % servers.length];
  const start = async (n, dsl, query = "") =>
    (await sent(`${at(n).url}/api/runs${query}`, { dsl })).json();
  return {
    ...{ ground, folder, servers, start },
    /** A run of Millrace, from its start at the server with this number to its end. */
    async run(n, dsl) {
      const { summary } = await start(n, dsl, "?waitMs=60000");
      if (summary?.status !== "succeeded") throw new Error("a run did not succeed");
    },
    /** The same of the plain service, by the ingress with this number. */
    async plain(n, input) {
      for (;;) {
        const answer = await sent(`${ingress[n % ingress.length]}/plain/run`, input, [404]);
        await answer.text();
        if (answer.ok) return;
        await sleep(LOOK_MS); // an ingress learns of a registration a moment after the admin that took it
      }
    },
    /** Calls of Restate go to the server with this number alone, for both; undefined: to any. */
    callOnly(only) {
      ground.callOnly(only);
      balancer.targets.clear();
      for (const [n, port] of ports.entries())
        if (only === undefined || n === only) balancer.targets.add(port);
      if (only !== undefined) balancer.reset();
    },
    /** Seconds that the processors have worked for each server. */
    processor: () => servers.map(({ child }) => processorOf(child.pid)),
    async log(n, runId) {
      const headers = { accept: "application/x-ndjson" };
      const answer = await fetch(`${at(n).url}/api/runs/${runId}/events`, { headers });
      return (await answer.arrayBuffer()).byteLength;
    },
    async close() {
      clearInterval(awake);
      for (const { child } of servers) child.kill("SIGKILL");
      await balancer.close();
      await ground.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function sent(url, body, also = []) {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok && !also.includes(answer.status)) {
    throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  }
  return answer;
}

function processorOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** A case that needs three nodes of Restate, or PostgreSQL alone. */
const caseOf = (kind, parts) => ({
  isLong: true,
  session(plain) {
    const needs = kind === "restate" ? ["postgres", "restate-server"] : ["postgres"];
    const none = needs.find((program) => fileOf(program) === undefined);
    return none === undefined
      ? { command: plain, env: process.env }
      : { missing: `no ${none}`, command: plain, env: process.env };
  },
  ...parts,
});

/** So many runs of both, at once. `bar`: the most that ours may take. */
const runsCase = (count, { bar, samples }) =>
  caseOf("restate", {
    what: `${count === 1 ? "a run" : `${count} runs at once`} of ${STEPS} steps with an effect, from the start to the end, on three servers and three nodes of Restate; the baseline is a service of Restate's SDK that calls \`ctx.run\` with that effect`,
    samples,
    warmMs: 5_000,
    bars: { "plain Restate": bar },
    async prepare() {
      const cluster = await startCluster("restate");
      const dsl = stepsOf(STEPS);
      const least = { ours: Number.POSITIVE_INFINITY, plain: Number.POSITIVE_INFINITY };
      const all = (who, one) => async () => {
        const ms = await timed(() => Promise.all(Array.from({ length: count }, (_, n) => one(n))));
        least[who] = Math.min(least[who], ms);
        return ms;
      };
      return {
        contenders: {
          "plain Restate": all("plain", (n) => cluster.plain(n, { steps: STEPS })),
          millrace: all("ours", (n) => cluster.run(n, dsl)),
        },
        facts: () => ({
          "ms a step": { value: round(least.ours / STEPS) },
          "of plain Restate": { value: round(least.plain / STEPS) },
        }),
        close: () => cluster.close(),
      };
    },
  });

export const clusterCases = {
  "step beside Restate": runsCase(1, { bar: 1.5, samples: 15 }),
  "100 runs beside Restate": runsCase(100, { bar: 2, samples: 3 }),

  "log at another server": caseOf("restate", {
    what: `reading the log of a run with ${ITEMS} items at a server that never drove it, against the one that did`,
    samples: 9,
    warmMs: 3_000,
    bars: { "where it was written": 1.3 },
    async prepare() {
      const cluster = await startCluster("restate");
      cluster.callOnly(0);
      const { runId } = await cluster.start(1, LONG, "?waitMs=60000");
      const read = (n) => () => timed(() => cluster.log(n, runId));
      return {
        contenders: { "where it was written": read(0), millrace: read(1) },
        close: () => cluster.close(),
      };
    },
  }),

  takeover: caseOf("restate", {
    what: "from kill -9 of a server until the next effect of its run, at another one; the plain service dies with the same process",
    samples: 1,
    bars: { "plain Restate": null },
    async prepare() {
      const cluster = await startCluster("restate");
      const how = (who) => ({ ms: 200, file: join(cluster.folder, who) });
      const [ours, plain] = [how("ours"), how("plain")];
      for (const { file } of [ours, plain]) writeFileSync(file, "");
      const pidsOf = ({ file }) => readFileSync(file, "utf8").split("\n").slice(0, -1);
      const victim = String(cluster.servers[0].child.pid);
      cluster.callOnly(0);
      const steps = 200;
      await cluster.start(1, stepsOf(steps, ours));
      cluster.plain(1, { steps, ...plain }).catch(() => {}); // it ends with the nodes
      while ([ours, plain].some((each) => pidsOf(each).length < 3)) await sleep(LOOK_MS);
      cluster.callOnly(undefined);
      const goesOn = async (each) => {
        while (pidsOf(each).every((pid) => pid === victim)) await sleep(LOOK_MS);
      };
      let killedAt = 0;
      let times;
      const after = (who) => async () => {
        if (times === undefined) {
          cluster.servers[0].child.kill("SIGKILL");
          killedAt = performance.now();
          times = {
            ours: goesOn(ours).then(() => performance.now() - killedAt),
            plain: goesOn(plain).then(() => performance.now() - killedAt),
          };
        }
        return times[who];
      };
      let ms = 0;
      return {
        contenders: {
          "plain Restate": after("plain"),
          async millrace() {
            ms = await after("ours")();
            return ms;
          },
        },
        facts: () => ({ s: { value: round(ms / 1_000), bar: 10 } }),
        close: () => cluster.close(),
      };
    },
  }),

  "at rest with Restate": restCase("restate"),
  "at rest on PostgreSQL alone": restCase("postgres"),
};

/** What servers use that have nothing to do, and what a run of 20 steps asks of PostgreSQL. Counts depend little on the load. */
function restCase(kind) {
  return caseOf(kind, {
    what: `processor time of each of three servers in ${REST_MS / 1_000} s without work, in a second; counted by PostgreSQL: transactions and bytes of its write-ahead log, those of a run with what rest would cost taken off`,
    samples: 1,
    bars: {},
    async prepare() {
      const cluster = await startCluster(kind);
      const { Client } = createRequire(import.meta.resolve("@millrace/store-postgres"))("pg");
      const client = new Client({ connectionString: cluster.ground.postgres.url });
      await client.connect();
      const numbers = async () => {
        await sleep(SETTLE_MS);
        await client.query("SELECT pg_stat_clear_snapshot()");
        const { rows } = await client.query(`
          SELECT xact_commit::float8 AS transactions, (pg_current_wal_lsn() - '0/0')::float8 AS bytes,
                 (SELECT count(*) - 1 FROM pg_stat_activity WHERE datname = current_database())::float8 AS connections
          FROM pg_stat_database WHERE datname = current_database()`);
        return { ...rows[0], at: performance.now() };
      };
      const facts = {};
      return {
        contenders: {
          async millrace() {
            const [before, worked] = [await numbers(), cluster.processor()];
            await sleep(REST_MS);
            const [after, then] = [await numbers(), cluster.processor()];
            const seconds = (after.at - before.at) / 1_000;
            const most = Math.max(...then.map((value, n) => value - worked[n])) / seconds;
            const rest = (after.transactions - before.transactions) / seconds;
            facts["% of a core"] = { value: round(most * 100), bar: 3 };
            facts["transactions a second"] = { value: round(rest / SERVERS), bar: 12 };
            facts["bytes a second"] = {
              value: round((after.bytes - before.bytes) / seconds / SERVERS),
            };
            for (const [name, dsl, bar] of [
              ["a run of 20 pure steps", PURE, 35],
              ["a run of 20 steps with an effect", stepsOf(STEPS), 90],
            ]) {
              const begun = await numbers();
              await Promise.all(Array.from({ length: STEPS }, (_, n) => cluster.run(n, dsl)));
              const ended = await numbers();
              const own =
                ended.transactions - begun.transactions - (rest * (ended.at - begun.at)) / 1_000;
              facts[`transactions of ${name}`] = { value: round(own / STEPS), bar };
              facts[`bytes of ${name}`] = { value: round((ended.bytes - begun.bytes) / STEPS) };
            }
            const { connections } = await numbers();
            facts.connections = { value: connections / SERVERS, bar: 12 };
            return most * 1_000;
          },
        },
        facts: () => facts,
        async close() {
          await client.end();
          await cluster.close();
        },
      };
    },
  });
}
