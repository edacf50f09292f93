/** The events of a run of one kind, or of one node: from what the page keeps, else from the server. */
import type { ExecutionEvent, Kind } from "@millrace/contracts";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { backend } from "../../backend.ts";
import { nodeOf } from "../../state/event-log.ts";
import type { RunSession } from "../../state/run-session.ts";

/** Which events are wanted; absent: all. */
export interface Filter {
  readonly kind?: Kind | undefined;
  readonly node?: string | undefined;
}

/** Events that a filter lets pass. */
export interface Filtered {
  readonly events: readonly ExecutionEvent[];
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly loadMore: () => void;
}

/** Events of a page of the server. */
const PAGE = 200;

/** Applies a filter; undefined: there is none. */
export function useFiltered(session: RunSession, filter: Filter): Filtered | undefined {
  const { kind, node } = filter;
  const isOn = kind !== undefined || node !== undefined;
  const isWhole = session.log.since === 0;
  const revision = session.revision.value;
  const [read, setRead] = useState<Read>(EMPTY);

  const turn = useRef(0);

  const load = async (before: Read): Promise<void> => {
    turn.current += 1;
    const mine = turn.current;
    const show = (next: Read): void => {
      if (mine === turn.current) setRead(next); // another filter has another answer
    };
    show({ ...before, isLoading: true, error: undefined });
    try {
      const { items, nextCursor } = await backend.invoke("get_run_events", {
        runId: session.runId,
        after: before.after,
        limit: PAGE,
        ...(kind !== undefined && { kinds: [kind] }),
        ...(node !== undefined && { node }),
      });
      const page = items as readonly ExecutionEvent[];
      const events = [...before.events, ...page.filter((event) => passes(event, filter))];
      const after = page.at(-1)?.seq ?? before.after;
      show({ events, after, hasMore: nextCursor !== null, isLoading: false, error: undefined });
    } catch (error) {
      show({ ...before, isLoading: false, error });
    }
  };
  useEffect(() => {
    turn.current += 1;
    setRead(EMPTY);
    if (isOn && !isWhole) void load(EMPTY);
  }, [kind, node, isOn && !isWhole]);

  const kept = useMemo(() => {
    if (!isOn || !isWhole) return NONE;
    const from = node === undefined ? session.log.events : session.log.ofNode(node);
    return from.filter((event) => passes(event, filter));
  }, [kind, node, isWhole, revision]);

  if (!isOn) return undefined;
  if (isWhole) return { ...EMPTY, events: kept, loadMore: () => {} };
  return { ...read, loadMore: () => void load(read) };
}

interface Read extends Omit<Filtered, "loadMore"> {
  readonly after: number;
}

const NONE: readonly ExecutionEvent[] = [];
const EMPTY: Read = { events: NONE, after: 0, hasMore: false, isLoading: false, error: undefined };

function passes(event: ExecutionEvent, { kind, node }: Filter): boolean {
  return (kind ?? event.kind) === event.kind && (node === undefined || nodeOf(event) === node);
}
