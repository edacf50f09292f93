/** The part of an event that every reader checks: kind, number, time, and place in the run. */
import { EVENT_LIMITS } from "./limits.ts";
import { isPath } from "./path.ts";
import type { UnknownEvent } from "./types.ts";

const KIND = /^[a-z]+(\.[a-z]+)?$/;
const ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Whether `text` may stand as the id of a run, call or confirmation. */
export function isId(text: unknown): text is string {
  return typeof text === "string" && ID.test(text);
}

/** The problem of the envelope of `event`; `undefined` when it is legal. `v` is not checked. */
export function envelopeProblem(event: Partial<UnknownEvent>): string | undefined {
  const { kind, runId, seq, ts } = event;
  if (typeof kind !== "string" || kind.length > EVENT_LIMITS.kind || !KIND.test(kind)) {
    return "kind is not a legal kind";
  }
  if (!isId(runId)) return "runId is not a legal id";
  if (!Number.isSafeInteger(seq) || (seq as number) < 1) return "seq is not a positive integer";
  if (!Number.isSafeInteger(ts) || (ts as number) < 0) return "ts is not in epoch milliseconds";
  return placeProblem(kind, event.node, event.attempt);
}

function placeProblem(kind: string, node: unknown, attempt: unknown): string | undefined {
  const place = placeOf(kind);
  if (node === undefined && attempt === undefined) {
    return place === "node" ? `${kind} needs node and attempt` : undefined;
  }
  if (place === "run") return `${kind} has neither node nor attempt`;
  if (typeof node !== "string" || !isPath(node)) return "node is not a legal path";
  if (!Number.isSafeInteger(attempt) || (attempt as number) < 1) {
    return "attempt is not a positive integer";
  }
  return undefined;
}

/** Whose event a kind is; `either` for `log` and for kinds of newer writers. */
function placeOf(kind: string): "run" | "node" | "either" {
  switch (kind.slice(0, kind.indexOf("."))) {
    case "node":
    case "llm":
    case "tool":
    case "confirm":
      return "node";
    case "run":
      return "run";
    default:
      return kind === "snapshot" || kind === "summary" ? "run" : "either";
  }
}
