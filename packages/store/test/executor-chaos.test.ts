import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { executorChaos } from "@millrace/store/testing";
import { expect, test } from "vitest";
import { createRandom } from "../../engine/src/testing/index.ts";
import { bundleScript } from "./child.ts";
import { newFolder } from "./folder.ts";

const CHILD = fileURLToPath(new URL("../../../bench/durable/chaos-child.js", import.meta.url));
const KILLS = 10;
const MAX_MS = 240_000; // a limit for what hangs

test(
  "killed ten times, no step is lost, nothing but what was in flight is repeated, and nobody answers or fires twice",
  async () => {
    const program = await bundleScript(readFileSync(CHILD, "utf8"), join(CHILD, ".."));
    const dir = newFolder();
    const random = createRandom(7);
    const report = await executorChaos(
      (work) =>
        spawn(process.execPath, [program, JSON.stringify(work)], {
          stdio: ["ignore", "pipe", "inherit"],
        }),
      {
        work: {
          dir: join(dir, "data"),
          runs: 8,
          questions: 3,
          steps: 20,
          minStepMs: 10,
          maxStepMs: 30,
          fires: 5,
          effects: join(dir, "effects"),
          seen: join(dir, "seen"),
          answers: join(dir, "answers"),
        },
        kills: KILLS,
        maxEffects: 24,
        random: () => random.integer(0, 1_000) / 1_000,
      },
    );
    expect(report).toMatchObject({
      runs: 13,
      steps: 8 * 20 + 5,
      lost: 0,
      duplicateFires: 0,
      answeredTwice: 0,
      unseen: 0,
    });
    expect(report.kills).toBeGreaterThan(3); // it may have finished before the last one
    expect(report.interrupted).toBeGreaterThan(0);
  },
  MAX_MS,
);
