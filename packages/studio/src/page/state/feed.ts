/**
 * The one stream of starts, pauses, confirmations and ends of all runs. Lists are refreshed by it and never polled.
 *   F1  While the page is hidden, or nobody is signed in, no stream is open; shown again it goes on from its position.
 *   F2  What was missed is told as a gap: then everything that was read is read again. A server that was lost and is back is a gap:
 *       it may be another one, and not all that it holds is told in events.
 */
import type { ExecutionEvent } from "@millrace/contracts";
import { effect } from "@preact/signals";
import { backend, connection, isUnauthorised } from "../backend.ts";
import { followStream } from "./follow-stream.ts";
import { meta } from "./meta.ts";
import { isActive } from "./visibility.ts";

/** Hears an event of the feed; `undefined`: events may have been missed. */
export type FeedListener = (event: ExecutionEvent | undefined) => void;

const listeners = new Set<FeedListener>();
let position: number | undefined;

/** Calls `listener` for each event from now on; answers what ends that. */
export function onFeed(listener: FeedListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Reads the feed while the page is in use. Called once. */
export function followFeed(): void {
  let wasCut = false;
  effect(() => {
    if (connection.value !== "Connected") wasCut = true;
    else if (wasCut) {
      wasCut = false;
      tell(undefined);
    }
  });
  effect(() => {
    if (!isActive.value || isUnauthorised.value || meta.value === undefined) return undefined;
    const stop = new AbortController();
    void read(stop.signal);
    return () => stop.abort();
  });
}

async function read(signal: AbortSignal): Promise<void> {
  // A page that was hidden before any event came does not know where it was.
  if (position === undefined) tell(undefined);
  const open = () => backend.feed({ ...(position !== undefined && { after: position }), signal });
  await followStream(signal, open, ({ position: reached, gap, event }) => {
    position = reached;
    if (gap) tell(undefined);
    tell(event);
  });
}

function tell(event: ExecutionEvent | undefined): void {
  for (const listener of listeners) listener(event);
}
