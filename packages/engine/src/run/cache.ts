/** The cached result of an attempt: its key, reading it and keeping it. The identity of a node is what it is and what it is told, without where it stands. */

import type { FlowNode } from "@millrace/contracts";
import { type Layout, portsOf } from "../compile/layout.ts";
import { connectionNamed } from "../connections/link.ts";
import type { Host } from "../host.ts";
import type { Fields } from "../node-type.ts";
import { digestOf, sizeOf, toOutput, workOf } from "../values.ts";
import type { Result } from "./attempt-parts.ts";
import { emitLog } from "./emit.ts";
import { scopeOf } from "./scope.ts";
import type { Attempt } from "./state.ts";

/** The key of a node's result. Throws what the expression of the key throws. */
export function cacheKeyOf(attempt: Attempt, fields: Fields): string {
  const { run, frame, node, policy } = attempt;
  const own = policy.cache?.key ?? null;
  const { host } = run.engine;
  const by =
    own === null
      ? digestOf(plainFields(fields), host)
      : digestOf(own.evaluate(scopeOf(run, frame), attempt.startedAt), host);
  return `${contentHash(frame.layout, node, host)} ${slugOf(attempt, fields)} ${by}`;
}

/** One account's answers are not another's: the slug behind a connection may change while the flow does not. */
function slugOf({ type, frame }: Attempt, fields: Fields): string {
  const name = fields[type.entry.requires.connection ?? ""];
  return typeof name === "string" ? connectionNamed(frame.layout.connections, name).slug : "";
}

/** A cached entry as a result; null when there is none. Throws for an entry that this node cannot have written. */
export function readEntry({ frame, node }: Attempt, found: unknown): Result | null {
  if (found === undefined) return null;
  const { port, output } = found as { port: unknown; output: unknown };
  if (typeof port !== "string" || output === undefined) throw new TypeError("no result");
  if (!portsOf(frame.layout, node).includes(port)) throw new TypeError("no port of this node");
  const value = toOutput(output);
  return { port, output: value, bytes: sizeOf(value), cached: true, ref: null };
}

/** Keeps a result that this attempt has made. */
export function cacheResult(attempt: Attempt, result: Result): void {
  const { run, policy } = attempt;
  const { cacheKey } = attempt.extras;
  if (cacheKey === null || policy.cache === null) return;
  const { ttlMs } = policy.cache;
  const { port, output, bytes } = result;
  run.engine.cache.set(cacheKey, { port, output, bytes, until: run.now + ttlMs });
  const beyond = run.engine.options.cache;
  if (beyond !== undefined) {
    call(() => beyond.set(cacheKey, { port, output }, ttlMs)).catch(() => warnOfCache(attempt));
  }
}

/** The attempt is over: the next in line for its key may look again. */
export function leaveCache(attempt: Attempt): void {
  const key = attempt.extrasIfAny?.cacheKey ?? null;
  if (key !== null) attempt.run.engine.cache.done(attempt, key);
}

/** Logs that the cache port failed; the call counts as a miss. */
export function warnOfCache(attempt: Attempt): void {
  const { run } = attempt;
  if (run.state === "over" || run.summary !== null) return;
  run.tick();
  const text = `the cache failed for ${attempt.frame.path(attempt.node)}; it counts as a miss`;
  emitLog(run, { level: "warn", channel: "engine", text, code: "cache_failed" });
  run.pump();
}

/** A port may throw where it should reject. */
async function call<T>(act: () => Promise<T>): Promise<T> {
  return await act();
}

const hashes = new WeakMap<Layout, string[]>();

/** Digest over type, fields, body and what of the policy shapes the result. */
function contentHash(layout: Layout, node: number, host: Host): string {
  let known = hashes.get(layout);
  if (known === undefined) {
    known = [];
    hashes.set(layout, known);
  }
  const made = known[node];
  if (made !== undefined) return made;
  const version = layout.types[node]?.entry.version ?? 1;
  const hash = digestOf(
    {
      type: `${layout.types[node]?.entry.type}@${version}`,
      ...workOf(layout.nodes[node] as FlowNode),
    },
    host,
  );
  known[node] = hash;
  return hash;
}

/** Fields without the closures of deferred ones, which are no data. */
export function plainFields(fields: Fields): { readonly [name: string]: never } {
  const data = Object.entries(fields).filter(([, value]) => typeof value !== "function");
  return Object.fromEntries(data) as { readonly [name: string]: never };
}
