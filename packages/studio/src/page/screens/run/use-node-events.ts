/** The events of one node up to the moment that is looked at: what streams, and before it what the server still has. */
import type { ExecutionEvent, Kind } from "@millrace/contracts";
import { useEffect, useState } from "preact/hooks";
import { backend } from "../../backend.ts";
import type { RunSession } from "../../state/run-session.ts";
import type { Moment } from "./moment.ts";

/** Events of a page of the server. */
const PAGE = 200;
/** Pages that are read of a node: more than a person reads of its log. */
const MAX_PAGES = 25;

/** What is read of a long run: all that a node says but the pieces of a model's text. */
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

/** Follows a node. */
export function useNodeEvents(session: RunSession, moment: Moment, path: string): NodeEvents {
  const { log, runId } = session;
  session.ofNode(path).value;
  const { since } = log;
  const { at } = moment.shown.value;
  const [read, setRead] = useState<NodeEvents>(NOTHING);
  useEffect(() => {
    setRead(NOTHING);
    if (since === 0) return undefined;
    const stop = new AbortController();
    readAll(runId, path, since, stop.signal).then(
      (events) => setRead({ events, error: undefined }),
      (error: unknown) => {
        if (!stop.signal.aborted) setRead({ events: [], error });
      },
    );
    return () => stop.abort();
  }, [runId, path, since]);
  const streamed = log.ofNode(path);
  const all = read.events.length === 0 ? streamed : [...read.events, ...streamed];
  const events = at === undefined ? all : all.filter(({ seq }) => seq <= at);
  return { events, error: read.error };
}

const NOTHING: NodeEvents = { events: [], error: undefined };

/** Events of a node up to `until`. */
async function readAll(
  runId: string,
  node: string,
  until: number,
  signal: AbortSignal,
): Promise<readonly ExecutionEvent[]> {
  const events: ExecutionEvent[] = [];
  let after = 0;
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
