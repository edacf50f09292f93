/** Servers of one cluster in processes of their own, which are killed; so are the nodes of Restate, where it has some. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom } from "@millrace/engine/testing";
import { openPostgresStore } from "@millrace/store-postgres";
import { casesOf, describeLongWith } from "@millrace/test-support";
import { executorChaos, PROGRAMS_OF, startClusterGround } from "@millrace/test-support/executor";
import { temporaryFolder } from "@millrace/test-support/folder";
import { bundleProgram } from "@millrace/test-support/program";
import { expect, onTestFinished, test } from "vitest";

const CHILD = new URL("../../../bench/durable/chaos-child.js", import.meta.url);
const SERVERS = 3;
const RUNS = 6;
const STEPS = 10;
const MAX_MS = 300_000; // ten times what it takes on a machine that does nothing else

const CLUSTERS = [
  { kind: "restate", how: "called by Restate", kills: Math.max(3, casesOf(6)) },
  { kind: "postgres", how: "on PostgreSQL alone", kills: 3 },
] as const;

for (const { kind, how, kills } of CLUSTERS)
  describeLongWith(...PROGRAMS_OF[kind])(`a cluster of three servers ${how}`, () => {
    test("killed at any place, it loses no run and no step, and nobody answers, fires or reads twice", {
      timeout: MAX_MS,
    }, async () => {
      const [program, ground] = await Promise.all([
        bundleProgram(readFileSync(CHILD, "utf8"), CHILD.href),
        startClusterGround(SERVERS, { kind }),
      ]);
      onTestFinished(() => ground.stop());
      const random = createRandom(7);
      const { restate, postgres, key } = ground;
      const report = await executorChaos(
        (dir, at) =>
          spawn(process.execPath, [program, join(dir, String(at)), ground.optionOf(at)], {
            stdio: ["ignore", "pipe", "inherit"],
          }),
        {
          dir: join(temporaryFolder(), "data"),
          servers: SERVERS,
          ...(restate !== undefined && {
            nodes: {
              count: 3,
              kill: (node: number) => restate.kill(node),
              start: (node: number) => restate.start(node),
            },
          }),
          openStore: () => openPostgresStore({ url: postgres.url, key: Buffer.from(key, "hex") }),
          kills,
          runs: RUNS,
          width: 3,
          flow: { steps: STEPS, minStepMs: 10, maxStepMs: 40 },
          fetch,
          random: () => random.integer(0, 999) / 1_000,
        },
      );
      expect(report.faults).toEqual([]);
      expect(report).toMatchObject({ lostRuns: 0, lostSteps: 0, repeatedEnded: 0, violations: 0 });
      expect(report).toMatchObject({ answeredTwice: 0, firedTwice: 0, missedFires: 0, gaps: 0 });
      expect(report.kills).toBe(kills);
      expect(report.accepted).toBeGreaterThanOrEqual(RUNS);
      expect(report.steps).toBe(report.accepted * STEPS + report.fireTimes);
    });
  });
