// Property tests walk the same cases on every run, so that a red test is a change's own doing. Other cases:
// MILLRACE_LAW_SEED=<number>, or more of them where a suite says so.
import * as fc from "fast-check";

const { MILLRACE_LAW_SEED = "20261121" } = process.env;

fc.configureGlobal({ seed: Number(MILLRACE_LAW_SEED) });
