/**
 * A cluster whose parts are on machines of their own: what lies between two of them is cut for half a minute, without a word to anybody,
 * and the disks under PostgreSQL and under a node of Restate are full.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describeUnless, describeWith, notFull } from "@millrace/test-support";
import { noMount } from "@millrace/test-support/disk";
import {
  type NetworkGround,
  PROGRAMS_OF,
  startNetworkGround,
} from "@millrace/test-support/executor";
import { noNetworks } from "@millrace/test-support/networks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { flowOf, PATIENCE, TestServers } from "./support/cluster.ts";

const SERVERS = 3;
const CUT_MS = 30_000;
const TEST_MS = 240_000;
/** After a cut the system waits as long again, until it sends what was lost. */
const LATE = { ...PATIENCE, timeout: 90_000 };

/** Each kind of pair once, none of which needs another one of them. */
const PAIRS = [
  ["server2", "database"],
  ["server1", "balancer"], // by which Restate calls
  ["server0", "node2"],
  ["node0", "node1"],
] as const;

let ground: NetworkGround;
let servers: TestServers;

describeUnless(notFull ?? noNetworks() ?? noMount())("a cluster of several machines", () => {
  describeWith(...PROGRAMS_OF.restate)("with Restate", () => {
    beforeAll(async () => {
      ground = await startNetworkGround(SERVERS);
      servers = await TestServers.open({
        homes: SERVERS,
        ground,
        within: (at, words) => ground.network.within(`server${at}`, words),
        optionsOf: (at) => ({ host: ground.network.addressOf(`server${at}`), allowOpen: true }),
      });
      await Promise.all(Array.from({ length: SERVERS }, (_, at) => servers.begin(at)));
    }, TEST_MS);
    afterAll(() => servers?.close());

    const told = (at: number) => (): string => servers.at(at).told.join("");
    /** Two runs at each server. */
    const startAll = (steps: number): Promise<string[]> =>
      Promise.all(
        Array.from({ length: 2 * SERVERS }, (_, at) => servers.started(at, flowOf(steps))),
      );

    test("cut for half a minute between a server and PostgreSQL, Restate and a server, and two nodes, it loses nothing", {
      timeout: TEST_MS,
    }, async () => {
      const runs = await startAll(50);
      for (const [one, other] of PAIRS) ground.network.cut(one, other);
      const mendAt = performance.now() + CUT_MS;
      await expect.poll(() => servers.readyOf(2), PATIENCE).toMatchObject({ status: "store" });
      expect((await servers.start(2)).status).toBe(503);
      expect(told(2)()).toContain("store.lost");
      while (performance.now() < mendAt) {
        runs.push(await servers.started(0, flowOf(2)), await servers.started(1, flowOf(2)));
        await sleep(2_000);
      }
      for (const [one, other] of PAIRS) ground.network.mend(one, other);
      const whole = { status: "ok", dispatcher: "ok" };
      for (let at = 0; at < SERVERS; at += 1) {
        await expect.poll(() => servers.readyOf(at), LATE).toEqual(whole);
      }
      for (const runId of runs) {
        await expect.poll(() => servers.statusOf(runId), LATE).toBe("succeeded");
        await servers.endOf(runId);
      }
      await expect.poll(told(2), PATIENCE).toContain("store.back");
      expect(told(2)().match(/bells\.not_read|schedule\.failed/g)?.length ?? 0).toBeLessThan(10);
    });

    test("with a full disk under PostgreSQL it takes no starts and says why; what was told is there when there is room", {
      timeout: TEST_MS,
    }, async () => {
      const runs = await startAll(30);
      const filler = fill(ground.disks.database);
      const refused = async (): Promise<unknown> => {
        const answer = await servers.start(0, { dsl: flowOf(2) });
        const body = (await answer.json()) as { runId?: string; code?: string };
        if (body.runId !== undefined) runs.push(body.runId);
        return body.code;
      };
      // where the log of PostgreSQL itself finds no room, PostgreSQL ends
      await expect.poll(refused, LATE).toMatch(/^store_(?:full|unavailable)$/);
      const why = /"condition":"store_(?:full|unavailable)","msg":"store\.lost"/;
      await expect.poll(told(0), PATIENCE).toMatch(why);
      rmSync(filler);
      await ground.postgres.up(); // where it has stopped
      for (const runId of runs) {
        await expect.poll(() => servers.statusOf(runId), LATE).toBe("succeeded");
        await servers.endOf(runId);
      }
    });

    test("with a full disk under a node of Restate it goes on, and so does that node when there is room", {
      timeout: TEST_MS,
    }, async () => {
      const filler = fill(ground.disks.node);
      for (const runId of await startAll(3)) await servers.endOf(runId);
      rmSync(filler);
      await ground.restate?.kill(2);
      await ground.restate?.start(2);
      await ground.restate?.kill(0); // two of three are needed, so that node is one of them now
      for (const runId of await startAll(3)) {
        await expect.poll(() => servers.statusOf(runId), LATE).toBe("succeeded");
      }
    });
  });
});

/** Takes all the room of a disk; answers the file. */
function fill(folder: string): string {
  const file = join(folder, "filler");
  try {
    for (;;) writeFileSync(file, new Uint8Array(2 ** 16), { flag: "a" });
  } catch {
    return file;
  }
}
