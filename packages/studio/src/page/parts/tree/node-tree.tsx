/**
 * The nodes of a flow or a run as a tree: what the picture shows, for keyboards and screen readers. Rows outside of the view are not in
 * the document once there are many.
 */
import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { symbolOf } from "../run-status.tsx";
import {
  ancestorsOf,
  canOpen,
  findRow,
  nameOf,
  rowsOf,
  type TreeItem,
  type TreeRow,
} from "./tree-rows.ts";
import { ROW_PX, useWindow } from "./use-window.ts";
import "./node-tree.css";

export type { TreeItem } from "./tree-rows.ts";

/** Letters typed within this time belong together, in milliseconds. */
const TYPING_MS = 700;

/** Content of a tree, and handlers of its keys. A key without a handler does nothing. */
export interface NodeTreeProps {
  readonly items: readonly TreeItem[];
  readonly selected: string | undefined;
  /** The focus came to an item; while a key is held down, at most seven times a second. */
  readonly onSelect: (path: string) => void;
  /** Enter, or a double click. */
  readonly onOpen?: (path: string) => void;
  /** F2. */
  readonly onRename?: (path: string) => void;
  /** Delete. */
  readonly onDelete?: (path: string) => void;
  /** Where an edge leads, for Alt with an arrow. */
  readonly neighbours?: (path: string, direction: "next" | "previous") => string | undefined;
  /** Items with children are open until somebody closes them. Default: they are closed. */
  readonly startsOpen?: boolean;
}

function hasFocus(element: HTMLElement | null): boolean {
  return element?.contains(document.activeElement) === true;
}

/** The tree "Nodes". */
export function NodeTree(props: NodeTreeProps): ComponentChildren {
  const { items, selected, startsOpen = false } = props;
  const [toggled, setToggled] = useState<ReadonlySet<string>>(NONE);
  const [active, setActive] = useState<string | undefined>(selected);
  const element = useRef<HTMLDivElement>(null);
  const [focusTurn, setFocusTurn] = useState(0);
  const revealed = useRef<string>(undefined);
  const typed = useRef(NOTHING_TYPED);
  const own = useRef<string>(undefined);
  const select = useSpaced((path: string) => {
    own.current = path;
    props.onSelect(path);
  });

  const isOpen = (path: string): boolean => toggled.has(path) !== startsOpen;
  const rows = useMemo(() => rowsOf(items, isOpen), [items, toggled, startsOpen]);
  const found = rows.findIndex(({ item }) => item.path === active);
  const current = Math.max(0, found);
  const { first, last, reveal } = useWindow(element, rows.length);

  const setOpen = (paths: readonly string[], open: boolean): void => {
    setToggled((before) => {
      const next = new Set(before);
      for (const path of paths) {
        if (open === startsOpen) next.delete(path);
        else next.add(path);
      }
      return next;
    });
  };
  const openTo = (path: string): boolean => {
    const ancestors = ancestorsOf(items, path);
    if (ancestors === undefined) return false;
    const closed = ancestors.filter((each) => !isOpen(each));
    if (closed.length > 0) setOpen(closed, true);
    return true;
  };
  const focusOn = (path: string): void => {
    setActive(path);
    setFocusTurn((turn) => turn + 1);
  };
  const go = (path: string): void => {
    focusOn(path);
    select(path);
  };

  // A selection made elsewhere becomes the tab stop; it does not take the focus. Its item may come later, as in a run that is read.
  // One made here comes back late: the focus may be further by then.
  useEffect(() => {
    if (selected === undefined || selected === revealed.current) return;
    if (selected !== own.current) {
      if (!openTo(selected)) return;
      if (hasFocus(element.current)) focusOn(selected);
      else setActive(selected);
    }
    own.current = undefined;
    revealed.current = selected;
  }, [selected, items]);
  useLayoutEffect(() => {
    if (found >= 0) reveal(found);
  }, [active, found >= 0]);
  useLayoutEffect(() => {
    if (focusTurn === 0) return;
    element.current?.querySelector<HTMLElement>('[role="treeitem"][tabindex="0"]')?.focus();
  }, [focusTurn]);

  // A row that goes, such as that of a renamed node, does not take the focus with it.
  const hadFocus = hasFocus(element.current);
  useLayoutEffect(() => {
    if (hadFocus && !hasFocus(element.current)) setFocusTurn((turn) => turn + 1);
  });

  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[current];
    if (row === undefined || event.ctrlKey || event.metaKey) return;
    const { path } = row.item;
    const goTo = (at: number): void => {
      const target = rows[Math.min(rows.length - 1, Math.max(0, at))];
      if (target !== undefined) go(target.item.path);
    };
    const keys: Readonly<Record<string, () => void>> = {
      ArrowDown: () => goTo(current + 1),
      ArrowUp: () => goTo(current - 1),
      Home: () => goTo(0),
      End: () => goTo(rows.length - 1),
      PageDown: () => goTo(current + PAGE),
      PageUp: () => goTo(current - PAGE),
      ArrowRight: () => {
        if (row.isOpen) {
          if (rows[current + 1]?.parent === path) goTo(current + 1);
        } else if (canOpen(row.item)) setOpen([path], true);
      },
      ArrowLeft: () => {
        if (row.isOpen) setOpen([path], false);
        else if (row.parent !== undefined) go(row.parent);
      },
      Enter: () => {
        select(path);
        props.onOpen?.(path);
      },
      " ": () => select(path),
      F2: () => props.onRename?.(path),
      Delete: () => props.onDelete?.(path),
    };
    if (event.altKey) {
      const direction = ALONG[event.key];
      if (direction === undefined) return;
      event.preventDefault();
      const target = props.neighbours?.(path, direction);
      if (target !== undefined && openTo(target)) go(target);
      return;
    }
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (act !== undefined) {
      event.preventDefault();
      typed.current = NOTHING_TYPED;
      act();
    } else if ([...event.key].length === 1) {
      const before = typed.current;
      const now = event.timeStamp;
      const text = now - before.at < TYPING_MS ? before.text + event.key : event.key;
      typed.current = { text, at: now };
      const match = findRow(rows, current, text);
      if (match !== undefined) goTo(match);
    }
  };

  const rowOf = ({ target }: Event): TreeRow | undefined => {
    const row = target instanceof Element ? target.closest<HTMLElement>("[data-row]") : null;
    return row === null ? undefined : rows[Number(row.dataset["row"])];
  };
  const onClick = (event: MouseEvent): void => {
    const row = rowOf(event);
    if (row === undefined) return;
    const { path } = row.item;
    const isToggle = (event.target as Element).matches(".node-toggle") && canOpen(row.item);
    if (isToggle) {
      focusOn(path);
      setOpen([path], !row.isOpen);
    } else go(path);
  };

  const shown: number[] = [];
  if (current < first && rows.length > 0) shown.push(current);
  for (let at = first; at < last; at += 1) shown.push(at);
  if (current >= last) shown.push(current);
  return (
    <div
      ref={element}
      role="tree"
      aria-label="Nodes"
      class="node-tree"
      onKeyDown={onKeyDown}
      onClick={onClick}
      onDblClick={(event) => {
        const row = rowOf(event);
        if (row !== undefined) props.onOpen?.(row.item.path);
      }}
      tabIndex={rows.length === 0 ? 0 : undefined}
    >
      <div class="node-tree-rows" style={{ height: `${rows.length * ROW_PX}px` }}>
        {shown.map((at) => {
          const row = rows[at];
          if (row === undefined) return null;
          const { item, level, position, count } = row;
          const { path, state } = item;
          return (
            <div
              key={path}
              role="treeitem"
              class="node-row"
              aria-level={level}
              aria-posinset={position}
              aria-setsize={count}
              aria-selected={path === selected}
              aria-expanded={canOpen(item) ? row.isOpen : undefined}
              tabIndex={at === current ? 0 : -1}
              style={{ top: `${at * ROW_PX}px`, paddingInlineStart: `${(level - 1) * 16 + 4}px` }}
              data-row={at}
              onFocus={() => setActive(path)}
            >
              <span class="visually-hidden">{nameOf(item)}</span>
              <span class="node-content" aria-hidden="true">
                <span class="node-toggle">{canOpen(item) ? (row.isOpen ? "▾" : "▸") : ""}</span>
                {state !== undefined && (
                  <span class="state node-state" data-state={state}>
                    {symbolOf(state)}
                  </span>
                )}
                <span class="node-id">{item.id}</span>
                <span class="node-type">{item.type}</span>
                {state !== undefined && (
                  <span class="node-word">{item.isTakenOver ? `${state}, taken over` : state}</span>
                )}
                {(item.problems ?? 0) > 0 && <span class="node-problems">! {item.problems}</span>}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

const NONE: ReadonlySet<string> = new Set();
const NOTHING_TYPED = { text: "", at: 0 };
const PAGE = 10;
const ALONG: Readonly<Record<string, "next" | "previous">> = {
  ArrowDown: "next",
  ArrowUp: "previous",
};

/** Pause between two calls, in milliseconds: a browser refuses more than 200 changes of the address in 10 s. */
const PAUSE_MS = 150;

/** A function that calls the newest `work` with the newest value; nothing is called once the component is gone. */
function useSpaced<T>(work: (value: T) => void): (value: T) => void {
  const latest = useRef(work);
  latest.current = work;
  const pending = useRef<{ readonly value: T } | undefined>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback((value: T): void => {
    const pause = (): void => {
      timer.current = setTimeout(() => {
        timer.current = undefined;
        const next = pending.current;
        pending.current = undefined;
        if (next === undefined) return;
        pause();
        latest.current(next.value);
      }, PAUSE_MS);
    };
    if (timer.current !== undefined) {
      pending.current = { value };
      return;
    }
    pause();
    latest.current(value);
  }, []);
}
