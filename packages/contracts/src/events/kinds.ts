/** The closed list of kinds that a writer of version 1 may use, and what each of them must hold. */
import { integer, type ObjectShape, object, oneOf, optional } from "../shape/index.ts";
import { bytesBeyond, EVENT_LIMITS } from "./limits.ts";
import { count, id, partProblem, path } from "./parts.ts";
import { PAYLOADS } from "./payloads.ts";
import type { AnyEvent, ExecutionEvent, Kind } from "./types.ts";

/** Every kind that a writer of version 1 may use, in the order of the events page. */
export const EVENT_KINDS: readonly Kind[] = Object.keys(PAYLOADS) as Kind[];

const PARTS: ReadonlyMap<string, ObjectShape> = new Map(Object.entries(PAYLOADS));

/** The kind that ends every stream. */
export const TERMINAL_KIND = "summary";

/** Whether an event is of a kind of this version; a newer server may send others, which a reader passes over. */
export function isKnownEvent(event: AnyEvent): event is ExecutionEvent {
  return PARTS.has(event.kind);
}

/** Whole events by kind: envelope, then payload. */
export const EVENT_PARTS: ReadonlyMap<string, ObjectShape> = new Map(
  Object.entries(PAYLOADS).map(([kind, payload]) => [kind, eventPart(kind, payload)]),
);

function eventPart(kind: string, payload: ObjectShape): ObjectShape {
  const common = { v: oneOf(1), kind: oneOf(kind), runId: id, seq: integer(1), ts: count };
  const attempt = integer(1);
  const isRunEvent = kind.startsWith("run.") || kind === "snapshot" || kind === "summary";
  const place = isRunEvent
    ? {}
    : kind === "log"
      ? { node: optional(path), attempt: optional(attempt) }
      : { node: path, attempt };
  return object({ ...common, ...place, ...payload.fields });
}

/** Names of the members of a kind beyond its envelope, in wire order. */
export const PAYLOAD_KEYS: { readonly [kind: string]: readonly string[] } = Object.fromEntries(
  Object.entries(PAYLOADS).map(([kind, { fields }]) => [kind, Object.keys(fields)]),
);

/** The first thing that no reader could use, or `undefined`; unknown kinds and fields pass. The envelope is not looked at. */
export function payloadProblem(event: AnyEvent): string | undefined {
  if (isPlainStep(event as ExecutionEvent)) return undefined;
  const part = PARTS.get(event.kind);
  return part && partProblem(event, part, false)?.slice(1);
}

/** The two steps that most nodes have, where they have no rare member: what their shapes ask for, without a walk through them. */
function isPlainStep(e: ExecutionEvent): boolean {
  if (e.kind === "node.started") {
    const { type, inputs } = e;
    if (inputs !== undefined || typeof type !== "string") return false;
    return type.length > 0 && type.length <= EVENT_LIMITS.message;
  }
  if (e.kind !== "node.succeeded") return false;
  const { ports, outputRef, cached, truncated, durationMs, output } = e;
  if (ports !== undefined || outputRef !== undefined) return false;
  if (cached !== undefined || truncated !== undefined) return false;
  if (!Number.isSafeInteger(durationMs) || durationMs < 0) return false;
  return bytesBeyond(output, EVENT_LIMITS.inlineBytes) === 0;
}

/** The first thing that a writer of version 1 may not write, or `undefined`. */
export function strictProblem(event: AnyEvent): string | undefined {
  const part = EVENT_PARTS.get(event.kind);
  if (part === undefined) return "kind is none of version 1";
  return partProblem(event, part, true)?.slice(1);
}
