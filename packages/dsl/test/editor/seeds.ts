/** Random flows that a law of the answers of editors is tried on. */
import { casesOf } from "@millrace/test-support";

/** Seeds of each law. All ten thousand take ten minutes of a core: MILLRACE_LAW_RUNS=10000. */
export const SEEDS = Number(process.env["MILLRACE_LAW_RUNS"] ?? casesOf(800));
