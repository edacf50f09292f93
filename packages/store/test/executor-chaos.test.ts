import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom } from "@millrace/engine/testing";
import { casesOf, notFull, testUnless } from "@millrace/test-support";
import { executorChaos } from "@millrace/test-support/executor";
import { temporaryFolder } from "@millrace/test-support/folder";
import { bundleProgram } from "@millrace/test-support/program";
import { expect } from "vitest";

const CHILD = new URL("../../../bench/durable/chaos-child.js", import.meta.url);
const KILLS = Math.max(3, casesOf(10));
const RUNS = 12;
const MAX_MS = 600_000; // ten times what it takes on a machine that does nothing else

testUnless(notFull)(
  "killed again and again, a server loses no run and no step, repeats only what was in flight, and nobody answers or fires twice",
  async () => {
    const program = await bundleProgram(readFileSync(CHILD, "utf8"), CHILD.href);
    const random = createRandom(7);
    const report = await executorChaos(
      (dir) => spawn(process.execPath, [program, dir], { stdio: ["ignore", "pipe", "inherit"] }),
      {
        dir: join(temporaryFolder(), "data"),
        kills: KILLS,
        runs: RUNS,
        width: 6,
        flow: { steps: 20, minStepMs: 10, maxStepMs: 40 },
        fetch,
        random: () => random.integer(0, 1_000) / 1_000,
      },
    );
    expect(report.faults).toEqual([]);
    expect(report).toMatchObject({
      kills: KILLS,
      lostRuns: 0,
      lostSteps: 0,
      answeredTwice: 0,
      firedTwice: 0,
      missedFires: 0,
      gaps: 0,
      violations: 0,
    });
    expect(report.accepted).toBeGreaterThanOrEqual(RUNS);
    expect(report.steps).toBe(report.accepted * 20 + report.fireTimes);
    // The kills met something: steps at work, readers, questions, a schedule. A few kills need not meet all of it; the 500 of
    // `npm run chaos` do.
    const { inFlight, brokenStreams, heldQuestions, fireTimes } = report;
    expect(Math.max(inFlight, brokenStreams, heldQuestions, fireTimes)).toBeGreaterThan(0);
  },
  MAX_MS,
);
