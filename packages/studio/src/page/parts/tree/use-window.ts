/** Which rows of a long list are near its view. Rows have one height, so that their places are known. */
import { useCallback, useLayoutEffect, useState } from "preact/hooks";

/** Height of a row, in CSS pixels. */
export const ROW_PX = 28;
/** A list of up to so many rows is whole in the document. */
const ALL = 200;
/** Rows kept above and below the view. */
const MARGIN = 20;

/** A part of a list. */
export interface RowWindow {
  /** The first row of it. */
  readonly first: number;
  /** The row after its last one. */
  readonly last: number;
  /** Scrolls as little as needed to show a row. */
  readonly reveal: (row: number) => void;
}

/** Follows the scrolling and the size of `element`, which scrolls `count` rows. */
export function useWindow(
  element: { readonly current: HTMLElement | null },
  count: number,
): RowWindow {
  const [part, setPart] = useState({ first: 0, last: MARGIN * 2 });
  useLayoutEffect(() => {
    const scroller = element.current;
    if (scroller === null) return undefined;
    const read = (): void => {
      const first = Math.max(0, Math.floor(scroller.scrollTop / ROW_PX) - MARGIN);
      const rows = Math.ceil(scroller.clientHeight / ROW_PX) + 2 * MARGIN;
      // In steps of half a margin, so that most scrolling changes nothing.
      const start = first - (first % (MARGIN / 2));
      const next = { first: start, last: start + rows + MARGIN / 2 };
      setPart((before) =>
        before.first === next.first && before.last === next.last ? before : next,
      );
    };
    read();
    const observer = new ResizeObserver(read);
    observer.observe(scroller);
    scroller.addEventListener("scroll", read, { passive: true });
    return () => {
      observer.disconnect();
      scroller.removeEventListener("scroll", read);
    };
  }, []);
  const reveal = useCallback((row: number): void => {
    const scroller = element.current;
    if (scroller === null) return;
    const top = row * ROW_PX;
    const bottom = top + ROW_PX - scroller.clientHeight;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (bottom > scroller.scrollTop) scroller.scrollTop = bottom;
  }, []);
  if (count <= ALL) return { first: 0, last: count, reveal };
  return { first: Math.min(part.first, count), last: Math.min(part.last, count), reveal };
}
