/**
 * A table of many rows: only those in view are in the document, and `aria-rowcount` and `aria-rowindex` say where they stand. The table
 * is one tab stop: arrow keys, Page Up, Page Down, Home and End move between its rows.
 */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from "@tanstack/virtual-core";
import type { ComponentChildren } from "preact";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import "./data-table.css";
import "./virtual-table.css";

/** Rows of a page of keys: about what is in view. */
const PAGE = 12;
/** Height of a row before it is measured, in pixels. */
const ROW_PX = 30;

/** One column. */
export interface VirtualColumn {
  readonly title: string;
  /** Width as CSS has it, such as `6rem`; the rest goes to those without one. */
  readonly width?: string;
}

/** One row. */
export interface VirtualRow {
  /** Its accessible name; default: the text of its cells. */
  readonly name?: string;
  readonly cells: readonly ComponentChildren[];
  /** Content below the row, over its whole width. */
  readonly details?: ComponentChildren;
  readonly isSelected?: boolean;
}

/** A table. The control of a row, if it has any, is a button in one of its cells. */
export interface VirtualTableProps {
  readonly name: string;
  readonly columns: readonly VirtualColumn[];
  readonly count: number;
  readonly row: (index: number) => VirtualRow;
  /** Another value: the rows are others, and their heights are measured anew. */
  readonly rowsOf?: string;
  /** Stays at the end while rows are added, as long as the end is in view. */
  readonly followsEnd?: boolean;
}

/** The table; its height is that of what contains it. */
export function VirtualTable(props: VirtualTableProps): ComponentChildren {
  const { name, columns, count, row, rowsOf = "", followsEnd = false } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [, redraw] = useState(0);
  const [active, setActive] = useState(0);
  const mustFocus = useRef(false);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    overscan: 8,
    onChange: () => redraw((before) => before + 1),
  };
  const made = useRef<Virtualizer<HTMLDivElement, HTMLTableSectionElement>>(null);
  made.current ??= new Virtualizer(options);
  const virtualizer = made.current;
  const wasAtEnd = useRef(false);
  const atEnd = virtualizer.scrollRect !== null && virtualizer.getDistanceFromEnd() < ROW_PX;
  wasAtEnd.current = atEnd;
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer.measure(), [rowsOf]);
  useLayoutEffect(() => virtualizer._willUpdate());
  useLayoutEffect(() => {
    if (followsEnd && wasAtEnd.current && count > 0) virtualizer.scrollToIndex(count - 1);
  }, [count]);

  const items = virtualizer.getVirtualItems();
  const first = items[0];
  const last = items.at(-1);
  const focusable = items.some(({ index }) => index === active) ? active : first?.index;
  useLayoutEffect(() => {
    const controls = scroller.current?.querySelectorAll<HTMLElement>("tbody[data-index] button");
    for (const control of controls ?? []) {
      const body = control.closest<HTMLElement>("tbody");
      const isMain = body?.querySelector("button") === control;
      const isCurrent = body?.dataset["index"] === `${focusable}`;
      if (isMain) control.tabIndex = isCurrent ? 0 : -1;
      if (isMain && isCurrent && mustFocus.current && focusable === active) {
        mustFocus.current = false;
        control.focus({ preventScroll: true });
      }
    }
  });

  const onKeyDown = useCallback(
    (event: KeyboardEvent): void => {
      const body = (event.target as HTMLElement).closest<HTMLElement>("tbody[data-index]");
      if (body === null || body.querySelector("button") !== event.target) return;
      const target = targetOf(event.key, Number(body.dataset["index"]), count);
      if (target === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      mustFocus.current = true;
      setActive(target);
      virtualizer.scrollToIndex(target);
    },
    [count],
  );

  return (
    <section
      ref={scroller}
      class="virtual-table"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
      tabIndex={0}
      aria-label={`${name}, scrollable`}
      onKeyDown={onKeyDown}
    >
      <table aria-label={name} aria-rowcount={count + 1}>
        <colgroup>
          {columns.map(({ title, width }) => (
            <col key={title} style={width === undefined ? undefined : { width }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ title }) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <Space height={first?.start ?? 0} />
        {items.map(({ index, key }) => {
          const { name: rowName, cells, details, isSelected } = row(index);
          return (
            <tbody key={key} data-index={index} ref={virtualizer.measureElement}>
              <tr
                aria-rowindex={index + 2}
                aria-label={rowName}
                data-selected={isSelected ? "true" : undefined}
              >
                {cells.map((cell, at) => (
                  <td key={columns[at]?.title}>{cell}</td>
                ))}
              </tr>
              {details !== undefined && (
                <tr class="details">
                  <td colSpan={columns.length}>{details}</td>
                </tr>
              )}
            </tbody>
          );
        })}
        <Space height={last === undefined ? 0 : virtualizer.getTotalSize() - last.end} />
      </table>
    </section>
  );
}

/** The place of the rows that are not in the document. */
function Space({ height }: { readonly height: number }): ComponentChildren {
  if (height <= 0) return null;
  return (
    <tbody aria-hidden="true">
      <tr style={{ height: `${height}px` }} />
    </tbody>
  );
}

function targetOf(key: string, at: number, count: number): number | undefined {
  const last = count - 1;
  switch (key) {
    case "ArrowDown":
      return Math.min(last, at + 1);
    case "ArrowUp":
      return Math.max(0, at - 1);
    case "PageDown":
      return Math.min(last, at + PAGE);
    case "PageUp":
      return Math.max(0, at - PAGE);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return undefined;
  }
}
