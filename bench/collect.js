// Collecting garbage when a bench wants it, without a flag of its process.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/** Collects all garbage. */
export const collect = runInNewContext("gc");
