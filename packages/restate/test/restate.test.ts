/** Dispatchers over a real cluster of Restate, in this process and in processes that are killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Again, type Dispatcher } from "@millrace/contracts";
import { createRestateDispatcher, type RestateDispatcherOptions } from "@millrace/restate";
import { describeWith } from "@millrace/test-support";
import { dispatcherConformance } from "@millrace/test-support/dispatcher";
import { temporaryFolder } from "@millrace/test-support/folder";
import { freePort } from "@millrace/test-support/ports";
import { bundleProgram } from "@millrace/test-support/program";
import {
  type Balancer,
  type RestateCluster,
  startBalancer,
  startRestate,
} from "@millrace/test-support/restate";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { HELD, type ServerOrders } from "./support/orders.ts";

const PATIENCE = { timeout: 30_000, interval: 20 };
/** Until the nodes that are left lead all partitions again: seconds on a machine with time, a minute on one without. */
const ELECTION = { timeout: 150_000, interval: 100 };

let cluster: RestateCluster;
let balancer: Balancer;
let program: Promise<string> | undefined;

/** The dispatcher of one more server, behind the balancer for as long as it serves. */
async function openServer(options: Partial<RestateDispatcherOptions> = {}): Promise<Dispatcher> {
  const port = await freePort();
  const { ingress, admin, identityKey } = cluster;
  const dispatcher = createRestateDispatcher({
    ...{ ingress, admin, identityKeys: [identityKey], endpoint: balancer.url },
    listen: `127.0.0.1:${port}`,
    ...options,
  });
  return {
    get condition() {
      return dispatcher.condition;
    },
    ring: (runId, ringOptions) => dispatcher.ring(runId, ringOptions),
    async serve(drive) {
      balancer.targets.add(port); // it is registered by way of the balancer
      await dispatcher.serve(drive);
    },
    close(closeOptions) {
      balancer.targets.delete(port);
      return dispatcher.close(closeOptions);
    },
  };
}

describeWith("restate-server")("over a cluster of three nodes", () => {
  beforeAll(async () => {
    [cluster, balancer] = await Promise.all([startRestate({ nodes: 3 }), startBalancer()]);
  });
  afterAll(async () => {
    await balancer?.close();
    await cluster?.stop();
  });

  // First, while the cluster is whole.
  dispatcherConformance("restate", async () => ({ hasMany: true, open: () => openServer() }));

  test("a server drives no more runs at a time than it is told, and misses none", {
    timeout: 180_000,
  }, async () => {
    const dispatcher = await openServer({ maxDrives: 2 });
    onTestFinished(() => dispatcher.close());
    const driven = new Set<string>();
    let [working, most] = [0, 0];
    await dispatcher.serve(async (run) => {
      working += 1;
      most = Math.max(most, working);
      await new Promise((resolve) => setTimeout(resolve, 20));
      working -= 1;
      driven.add(run);
      return "done";
    });
    const runs = Array.from({ length: 12 }, () => `run-${randomUUID()}`);
    await Promise.all(runs.map((run) => dispatcher.ring(run)));
    await expect.poll(() => runs.filter((run) => !driven.has(run)), PATIENCE).toEqual([]);
    expect(most).toBe(2);
  });

  test("Restate stores the ids of runs and nothing else of them", {
    timeout: 180_000,
  }, async () => {
    const dispatcher = await openServer();
    onTestFinished(() => dispatcher.close());
    const [run, secret] = [`run-${randomUUID()}`, `secret-${randomUUID()}`];
    let calls = 0;
    await dispatcher.serve(async () => {
      calls += 1;
      if (calls < 3) throw new Error(`the input ${secret} is not good`, { cause: secret });
      if (calls === 3) throw new Again(secret);
      return calls === 4 ? { again: 50 } : "done";
    });
    await dispatcher.ring(run);
    await expect.poll(() => calls, PATIENCE).toBeGreaterThan(4);
    expect(filesWith(cluster.folder, run)).not.toEqual([]);
    expect(filesWith(cluster.folder, secret)).toEqual([]);
  });

  test("runs go on when a node of Restate is killed, none lost and none driven twice at a time", {
    timeout: 400_000,
  }, async () => {
    const diary = join(temporaryFolder(), "diary");
    await startServers(2, diary);
    const ringer = await openServer();
    onTestFinished(() => ringer.close());
    const runs = Array.from({ length: 40 }, (_, at) => `run-${at}-${randomUUID()}`);
    for (const run of runs) await ringer.ring(run);
    await expect.poll(() => entries(diary, "begins").length, PATIENCE).toBeGreaterThan(10);
    await cluster.kill(1);
    // What is rung now goes to a node that is there.
    const late = `run-late-${randomUUID()}`;
    // While the others agree on who leads, a ring may find nobody in time: whoever keeps the run rings again.
    const isTaken = () =>
      ringer.ring(late).then(
        () => true,
        () => false,
      );
    await expect.poll(isTaken, ELECTION).toBe(true);
    const isEnded = () => {
      const ended = new Set(entries(diary, "ends").map(({ run }) => run));
      return [...runs, late].filter((run) => !ended.has(run));
    };
    await expect.poll(isEnded, ELECTION).toEqual([]);
    expect(overlaps(diary)).toEqual([]);
    await cluster.start(1);
  });

  test("a run whose server is killed is driven by another one", { timeout: 180_000 }, async () => {
    const diary = join(temporaryFolder(), "diary");
    const servers = await startServers(2, diary);
    const ringer = await openServer();
    onTestFinished(() => ringer.close());
    const run = `${HELD}${randomUUID()}`;
    await ringer.ring(run);
    await expect.poll(() => entries(diary, "begins").length, PATIENCE).toBe(1);
    const [first] = entries(diary, "begins");
    servers.find(({ pid }) => pid === first?.pid)?.kill("SIGKILL");
    await expect
      .poll(() => entries(diary, "ends").length, { ...PATIENCE, timeout: 30_000 })
      .toBe(1);
    expect(entries(diary, "ends")[0]?.pid).not.toBe(first?.pid);
  });

  test("a cluster that has lost everything is told again by a ring", {
    timeout: 180_000,
  }, async () => {
    const dispatcher = await openServer();
    onTestFinished(() => dispatcher.close());
    const driven = new Set<string>();
    await dispatcher.serve(async (run) => {
      driven.add(run);
      return "done";
    });
    const [lost, before] = [`run-${randomUUID()}`, `run-${randomUUID()}`];
    await dispatcher.ring(lost, { delayMs: 3_600_000 });
    await dispatcher.ring(before);
    await expect.poll(() => driven.has(before), PATIENCE).toBe(true);
    await cluster.wipe();
    await expect
      .poll(() => dispatcher.ring(lost).then(() => "taken", String), PATIENCE)
      .toBe("taken");
    await expect.poll(() => driven.has(lost), PATIENCE).toBe(true);
    expect(dispatcher.condition).toBe("ok");
  });
});

/** Servers in processes of their own, behind the balancer; they are killed with the test. */
async function startServers(count: number, diary: string): Promise<readonly ChildProcess[]> {
  writeFileSync(diary, "");
  program ??= bundleProgram(
    'import { serveDiary } from "./support/server.ts"; serveDiary(JSON.parse(process.argv[2]));',
    import.meta.url,
  );
  const file = await program;
  return Promise.all(
    Array.from({ length: count }, async () => {
      const port = await freePort();
      const { ingress, admin, identityKey } = cluster;
      const orders: ServerOrders = {
        diary,
        options: {
          ...{ ingress, admin, identityKeys: [identityKey], endpoint: balancer.url },
          listen: `127.0.0.1:${port}`,
        },
      };
      balancer.targets.add(port);
      const child = spawn(process.execPath, [file, JSON.stringify(orders)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => {
        balancer.targets.delete(port);
        child.kill("SIGKILL");
      });
      const ended = once(child, "exit").then(() => Promise.reject(new Error("a server ended")));
      ended.catch(() => {}); // it is killed later on
      await Promise.race([once(child.stdout, "data"), ended]);
      return child;
    }),
  );
}
interface Entry {
  readonly run: string;
  readonly what: string;
  readonly pid: number;
}

function entries(diary: string, what?: string): readonly Entry[] {
  const lines = readFileSync(diary, "utf8").split("\n").slice(0, -1);
  return lines
    .map((line) => line.split(" "))
    .map(([run = "", done = "", pid]) => ({ run, what: done, pid: Number(pid) }))
    .filter((entry) => what === undefined || entry.what === what);
}

/**
 * Drives that began while another server was at work on the same run, and went on to its end with it. One that is lost with its node
 * hears of it when its connection is gone, which may be a moment after another server was called; it leaves the run then.
 */
function overlaps(diary: string): readonly Entry[] {
  const all = entries(diary);
  const working = new Map<string, Set<number>>();
  return all.filter(({ run, what, pid }, at) => {
    const pids = working.get(run) ?? new Set();
    working.set(run, pids);
    if (what !== "begins") {
      pids.delete(pid);
      return false;
    }
    const isFault = [...pids].some((other) => {
      const rest = all.slice(at + 1);
      return rest.find((each) => each.run === run && each.pid === other)?.what === "ends";
    });
    pids.add(pid);
    return isFault;
  });
}

/** Files below a folder that hold a text. */
function filesWith(folder: string, text: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}
