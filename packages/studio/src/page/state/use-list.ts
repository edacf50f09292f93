/** A list of the server, read page by page and kept fresh by the feed; one that the feed does not tell of, whenever the page is shown again. */
import type { ExecutionEvent, Page } from "@millrace/contracts";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { onFeed } from "./feed.ts";

/** Events that come together cause one reload, in milliseconds. */
const GATHER_MS = 200;

/** A list as a screen shows it. */
export interface ListState<T> {
  /** Undefined: nothing was read yet. */
  readonly items: readonly T[] | undefined;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  /** Why the last read failed. */
  readonly error: unknown;
  readonly loadMore: () => void;
  readonly reload: () => void;
}

/** How a list is read. */
export interface ListOptions<T> {
  /** Reads one page. */
  readonly load: (cursor?: string) => Promise<Page<T>>;
  /** Values that `load` depends on: another one begins the list anew. */
  readonly key: string;
  /** Whether an event of the feed changes the list. Default: none does. */
  readonly changedBy?: (event: ExecutionEvent) => boolean;
}

/** Reads a list and follows it. */
export function useList<T>({ load, key, changedBy }: ListOptions<T>): ListState<T> {
  const [state, setState] = useState<Omit<ListState<T>, "loadMore" | "reload">>(EMPTY);
  const latest = useRef({ load, changedBy, pages: 1, cursor: null as string | null, turn: 0 });
  Object.assign(latest.current, { load, changedBy });

  const read = useCallback(async (mode: "reload" | "more"): Promise<void> => {
    const now = latest.current;
    now.turn += 1;
    const { turn } = now;
    setState((before) => ({ ...before, isLoading: true }));
    try {
      const isMore = mode === "more" && now.cursor !== null;
      let cursor = isMore ? now.cursor : null;
      const items: T[] = [];
      for (let count = isMore ? 1 : now.pages; count > 0; count -= 1) {
        const page = await now.load(cursor ?? undefined);
        items.push(...page.items);
        cursor = page.nextCursor;
        if (cursor === null) break;
      }
      if (turn !== now.turn) return;
      if (isMore) now.pages += 1;
      now.cursor = cursor;
      setState((before) => ({
        items: isMore ? [...(before.items ?? []), ...items] : items,
        hasMore: cursor !== null,
        isLoading: false,
        error: undefined,
      }));
    } catch (error) {
      if (turn === now.turn) setState((before) => ({ ...before, isLoading: false, error }));
    }
  }, []);

  useEffect(() => {
    Object.assign(latest.current, { pages: 1, cursor: null });
    setState(EMPTY);
    void read("reload");
  }, [key, read]);

  useEffect(() => {
    const look = (): void => {
      const isTold = latest.current.changedBy !== undefined;
      if (!isTold && document.visibilityState === "visible") void read("reload");
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = onFeed((event) => {
      const { changedBy: isChange } = latest.current;
      if (event !== undefined && isChange?.(event) !== true) return;
      clearTimeout(timer);
      timer = setTimeout(() => void read("reload"), GATHER_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [read]);

  return {
    ...state,
    loadMore: useCallback(() => void read("more"), [read]),
    reload: useCallback(() => void read("reload"), [read]),
  };
}

const EMPTY = { items: undefined, hasMore: false, isLoading: true, error: undefined } as const;
