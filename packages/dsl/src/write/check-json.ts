/** Whether a value is JSON. Iterative: the depth of the data does not matter. */

import { memberNames, pointerSegment } from "@millrace/contracts/kit";
import { DslError } from "../errors.ts";

/** A list or object that is being looked through; a list has no names. */
interface Open {
  readonly holder: object;
  readonly names: readonly string[] | undefined;
  readonly values: readonly unknown[];
  next: number;
}

/**
 * Throws `DslError` code `graph_invalid` at the first place that JSON has no room for: a number without end, a function or the
 * like, an object of a class, or one that holds itself. Members that are undefined are absent.
 */
export function checkJson(root: unknown): void {
  const open: Open[] = [];
  const around = new Set<object>();
  for (let at = root; ; ) {
    const problem = problemOf(at, around);
    if (problem !== undefined) {
      const pointer = open.map(step).join("");
      const place = pointer === "" ? "the graph" : pointer;
      throw new DslError("graph_invalid", `${place} ${problem}`, { pointer });
    }
    if (typeof at === "object" && at !== null) {
      around.add(at);
      open.push(opened(at));
    }
    let top = open.at(-1);
    for (; top !== undefined && top.next === top.values.length; top = open.at(-1)) {
      around.delete(top.holder);
      open.pop();
    }
    if (top === undefined) return;
    at = top.values[top.next];
    top.next += 1;
  }
}

function opened(holder: object): Open {
  if (Array.isArray(holder)) return { holder, names: undefined, values: holder, next: 0 };
  const object = holder as { readonly [name: string]: unknown };
  const names = memberNames(object as Parameters<typeof memberNames>[0]);
  return { holder, names, values: names.map((name) => object[name]), next: 0 };
}

function step({ names, next }: Open): string {
  return pointerSegment(names?.[next - 1] ?? String(next - 1));
}

function problemOf(value: unknown, around: ReadonlySet<object>): string | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number") {
    return Number.isFinite(value) ? undefined : "must be a finite number";
  }
  if (typeof value !== "object") return `must be JSON, found ${typeof value}`;
  if (around.has(value)) return "must not hold itself";
  return Array.isArray(value) || isPlain(value) ? undefined : "must be a plain object";
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as unknown;
  // A prototype without a prototype is Object.prototype of some realm.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
