/** JSON values as plain data: found out, copied, frozen. Nothing here recurses, so depth is a limit and never a crash. */
import { type Json, type JsonObject, MAX_JSON_DEPTH } from "../json.ts";
import { isObject } from "../kit/objects.ts";
import { pointerSegment } from "../kit/pointer.ts";
import { type Problem, rule } from "../shape/index.ts";
import { ExtensionError } from "./extension-error.ts";

/** The first part of a value that is not JSON, and its place; `undefined` when all is JSON within `MAX_JSON_DEPTH`. */
export function jsonProblem(root: unknown): Problem | undefined {
  const open: { value: unknown; pointer: string; depth: number }[] = [
    { value: root, pointer: "", depth: 1 },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, pointer, depth } = next;
    if (value === null || typeof value === "string" || typeof value === "boolean") continue;
    if (typeof value === "number") {
      if (!Number.isFinite(value)) return { pointer, message: "must be a finite number" };
      continue;
    }
    if (typeof value !== "object") return { pointer, message: `must be JSON, not ${kind(value)}` };
    if (depth > MAX_JSON_DEPTH) {
      return { pointer, message: `is nested deeper than ${MAX_JSON_DEPTH} levels` };
    }
    const list = Array.isArray(value);
    if (!list && !isPlain(value)) return { pointer, message: "must be a plain object" };
    for (const [key, inner] of list ? value.entries() : Object.entries(value)) {
      const at = pointer + pointerSegment(key);
      if (key === "__proto__") return { pointer: at, message: "is not a legal key" };
      if (inner === undefined && !list) continue;
      open.push({ value: inner, pointer: at, depth: depth + 1 });
    }
  }
  return undefined;
}

/** Any JSON value. */
export const json = rule<Json>(problems);

/** A JSON object. */
export const jsonObject = rule<JsonObject>(
  (value) => (isObject(value) ? problems(value) : "must be an object"),
  "object",
);

/** A deep copy of a JSON value, frozen at every level; absent members are left out. `what` names it in an error. */
export function frozenJson<T extends Json>(value: T, what: string, pointer = ""): T {
  const problem = jsonProblem(value);
  if (problem !== undefined) {
    throw new ExtensionError(
      "extension_definition_invalid",
      `${what} ${problem.message} at "${pointer}${problem.pointer}"`,
      { pointer: pointer + problem.pointer },
    );
  }
  const copy = JSON.parse(JSON.stringify(value)) as T;
  const open: unknown[] = [copy];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== "object" || next === null) continue;
    for (const inner of Object.values(next)) if (inner !== null) open.push(inner);
    Object.freeze(next);
  }
  return copy;
}

function problems(value: unknown): readonly Problem[] {
  const problem = jsonProblem(value);
  return problem === undefined ? [] : [problem];
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as unknown;
  // A prototype without a prototype is Object.prototype of some realm.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function kind(value: unknown): string {
  return value === undefined ? "undefined" : `a ${typeof value}`;
}
