/**
 * JSON Schema outside of the sandbox, within the limits of a call.
 *   C1  V8 breaks a check off after its time, wherever it is, in a regular expression too: `node:vm` is here a timer, and no sandbox.
 *   C2  The validator keeps what it found wrong until the end, of branches that do not count as well. It is loaded into a realm of
 *       its own, where the heap is looked at after each 4 MiB that it may have kept.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { createContext, runInNewContext, Script } from "node:vm";
import type { OutputUnit, Validator } from "@cfworker/json-schema";
import type { JsonObject } from "@millrace/contracts";
import { type CallLimits, Stopped } from "./sandbox.ts";

/** Bytes of an error of the validator without its texts, and of a name that it remembers. */
const ERROR_BYTES = 256;
const NAME_BYTES = 32;
const LOOK_BYTES = 4_194_304;

const realm = createContext({ URL, work: () => {}, look: () => {} });

// What stands in lists of the validator are errors, and objects whose members are names that a branch has checked.
new Script(`{
  let unseen = 0;
  const { push } = Array.prototype;
  Array.prototype.push = function (...items) {
    for (const item of items) {
      unseen += typeof item.keyword === "string"
        ? ${ERROR_BYTES} + 2 * (item.error.length + item.instanceLocation.length)
        : ${ERROR_BYTES} + ${NAME_BYTES} * Object.keys(item).length;
    }
    if (unseen > ${LOOK_BYTES}) {
      unseen = 0;
      look();
    }
    return push.apply(this, items);
  };
}`).runInContext(realm);

const modules = new Map<string, object>();

/** A module of the validator, with those that it requires. */
function load(path: string): object {
  const known = modules.get(path);
  if (known !== undefined) return known;
  const exports = {};
  modules.set(path, exports);
  const body = new Script(`(exports, require) => {${readFileSync(path, "utf8")}\n}`, {
    filename: path,
  }).runInContext(realm);
  body(exports, (name: string) => load(join(dirname(path), name)));
  return exports;
}

const entry = createRequire(import.meta.url).resolve("@cfworker/json-schema");
const validator = load(entry) as { readonly Validator: typeof Validator };
const check = new Script("work()");

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
setFlagsFromString("--no-expose-gc");

/**
 * What of a value does not fit a schema; undefined: it fits. Throws `Stopped`, and whatever the validator throws for what is no
 * schema.
 */
export function misfitOf(
  value: unknown,
  schema: JsonObject,
  { timeoutMs, memoryBytes }: CallLimits,
): OutputUnit | undefined {
  const { heap_size_limit: limit, used_heap_size: used } = getHeapStatistics();
  const most = used + Math.min(memoryBytes, (limit - used) / 2);
  const isFull = (): boolean => getHeapStatistics().used_heap_size > most;
  realm["look"] = () => {
    if (!isFull()) return;
    collect(); // what branches have left behind is no memory that is needed
    if (isFull()) throw new Stopped("memoryBytes");
  };
  // The validator writes into a schema.
  realm["work"] = () =>
    new validator.Validator(structuredClone(schema), "2020-12").validate(value ?? null);
  try {
    const { valid, errors } = check.runInContext(realm, { timeout: timeoutMs });
    return valid
      ? undefined
      : (errors.at(-1) ?? { keyword: "", keywordLocation: "", instanceLocation: "#", error: "" });
  } catch (error) {
    const { code, name } = Object(error);
    if (code === "ERR_SCRIPT_EXECUTION_TIMEOUT") throw new Stopped("timeoutMs");
    if (name === "RangeError") throw new Stopped("stack");
    throw error;
  } finally {
    realm["work"] = realm["look"] = () => {};
  }
}
