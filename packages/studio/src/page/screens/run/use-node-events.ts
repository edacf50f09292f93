/** The events of one node up to the moment that is looked at: what streams, and before it what the server still has. */
import type { ExecutionEvent, Kind } from "@millrace/contracts";
import { useEffect, useState } from "preact/hooks";
import { backend } from "../../backend.ts";
import { NodeLog } from "../../state/node-log.ts";
import type { RunSession } from "../../state/run-session.ts";
import type { Moment } from "./moment.ts";

/** Events of a page of the server. */
const PAGE = 200;
/** Pages that are read of a node: more than a person reads of its log. */
const MAX_PAGES = 25;

/** Kinds of events that are read of a long run: all of a node but the pieces of a model's text. */
const KINDS: Kind[] = [
  "node.started",
  "node.retrying",
  "node.waiting",
  "node.resumed",
  "node.succeeded",
  "node.failed",
  "node.skipped",
  "node.cancelled",
  "node.checked",
  "log",
  "llm.started",
  "llm.finished",
  "llm.failed",
  "llm.rejected",
  "tool.started",
  "tool.finished",
  "confirm.requested",
  "confirm.resolved",
];

/** Events of a node. */
export interface NodeEvents {
  readonly events: readonly ExecutionEvent[];
  readonly error: unknown;
}

/** Follows a node; another one is another component. What streams is added to what is known, and the log is read for what is missing. */
export function useNodeEvents(session: RunSession, moment: Moment, path: string): NodeEvents {
  const { log, runId } = session;
  session.ofNode(path).value;
  const { at } = moment.shown.value;
  const [known] = useState(() => new NodeLog(path));
  const [error, setError] = useState<unknown>(undefined);
  const [, redraw] = useState(0);
  known.follow(log);
  const { end } = known;
  const isBehind = end < log.since;
  useEffect(() => {
    if (!isBehind) return undefined;
    const stop = new AbortController();
    const until = log.since;
    readAll({ runId, node: path, after: end, until, signal: stop.signal }).then(
      (events) => {
        if (stop.signal.aborted) return;
        known.add(events, until);
        setError(undefined);
        redraw((turn) => turn + 1);
      },
      (failure: unknown) => {
        if (!stop.signal.aborted) setError(failure);
      },
    );
    return () => stop.abort();
  }, [runId, path, isBehind, end]);
  const all = isBehind ? [...known.events, ...log.ofNode(path)] : known.events;
  const events = at === undefined ? all : all.filter(({ seq }) => seq <= at);
  return { events, error };
}

/** A part of the log of a run that is read for one node: what comes after `after`, up to `until`. */
interface Missing {
  readonly runId: string;
  readonly node: string;
  readonly after: number;
  readonly until: number;
  readonly signal: AbortSignal;
}

async function readAll({
  runId,
  node,
  after: start,
  until,
  signal,
}: Missing): Promise<readonly ExecutionEvent[]> {
  const events: ExecutionEvent[] = [];
  let after = start;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const { items, nextCursor } = await backend.invoke(
      "get_run_events",
      { runId, node, kinds: KINDS, after, limit: PAGE },
      { signal },
    );
    const page = items as readonly ExecutionEvent[];
    events.push(...page.filter((event) => "node" in event && event.node === node));
    after = page.at(-1)?.seq ?? until;
    if (nextCursor === null || after >= until) break;
  }
  return events.filter(({ seq }) => seq <= until);
}
