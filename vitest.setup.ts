// Property tests walk the same cases on every run, so that a red test is a change's own doing. Other cases:
// MILLRACE_LAW_SEED=<number>; the laws of the text form then begin at that seed, and are as many as MILLRACE_LAW_RUNS.
import * as fc from "fast-check";
import { vi } from "vitest";
import { useBarePath } from "./packages/test-support/src/programs.js";

const { MILLRACE_LAW_SEED = "20261121" } = process.env;

// A test that needs more than a bare machine has says so: packages/test-support.
useBarePath();

fc.configureGlobal({ seed: Number(MILLRACE_LAW_SEED) });

// A limit for what hangs, not for what is slow: a test takes at most about twelve seconds on a machine with nothing else to do, and
// a slow one that does much else takes ten times as long.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });
