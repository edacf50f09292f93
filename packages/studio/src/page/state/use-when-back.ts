/** Repeats failed requests when the server is back. */
import { useEffect, useRef } from "preact/hooks";
import { onFeed } from "./feed.ts";

/** Calls `again` when a server that was lost is back, while `isLost`. */
export function useWhenBack(isLost: boolean, again: () => void): void {
  const latest = useRef(again);
  latest.current = again;
  useEffect(
    () => (isLost ? onFeed((event) => event === undefined && latest.current()) : undefined),
    [isLost],
  );
}
