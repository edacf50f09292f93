/**
 * The rows of a tree of nodes: which items are shown, and where keys lead.
 *   T1  An item is a row when each of its ancestors is open.
 *   T2  `children` of an item is called only when the item is open.
 */

import type { NodeState } from "@millrace/contracts";
import { formatCount } from "../format.ts";

/** A node in the tree. `path`: its identity; `id`: what a person reads. */
export interface TreeItem {
  readonly path: string;
  readonly id: string;
  readonly type: string;
  readonly state?: NodeState;
  /** Its result comes from the run that this one repeats. */
  readonly isTakenOver?: boolean;
  /** How many problems it has. */
  readonly problems?: number;
  /** Default: whether `children` is given. */
  readonly hasChildren?: boolean;
  readonly children?: () => readonly TreeItem[];
}

/** A shown item. `level`, `position` and `count` count from 1, as `aria-level`, `aria-posinset` and `aria-setsize` do. */
export interface TreeRow {
  readonly item: TreeItem;
  readonly level: number;
  readonly position: number;
  readonly count: number;
  readonly isOpen: boolean;
  /** Path of the item that contains it. */
  readonly parent?: string;
}

/** Whether an item is open, by its path. */
export type IsOpen = (path: string) => boolean;

/** The rows in the order in which they are shown. */
export function rowsOf(items: readonly TreeItem[], isOpen: IsOpen): TreeRow[] {
  const rows: TreeRow[] = [];
  addRows(rows, items, { isOpen, level: 1 });
  return rows;
}

function addRows(
  rows: TreeRow[],
  items: readonly TreeItem[],
  {
    isOpen,
    level,
    parent,
  }: { readonly isOpen: IsOpen; readonly level: number; readonly parent?: string },
): void {
  for (const [at, item] of items.entries()) {
    const open = canOpen(item) && isOpen(item.path);
    rows.push({
      item,
      level,
      position: at + 1,
      count: items.length,
      isOpen: open,
      ...(parent !== undefined && { parent }),
    });
    if (open) {
      addRows(rows, item.children?.() ?? [], { isOpen, level: level + 1, parent: item.path });
    }
  }
}

/** Whether an item has rows below it. */
export function canOpen({ hasChildren, children }: TreeItem): boolean {
  return hasChildren ?? children !== undefined;
}

/** The items that must be open for `path` to be a row, outermost first. Undefined: there is no such item. */
export function ancestorsOf(items: readonly TreeItem[], path: string): string[] | undefined {
  for (const item of items) {
    if (item.path === path) return [];
    if (!canOpen(item) || !isBelow(item.path, path)) continue;
    const inner = ancestorsOf(item.children?.() ?? [], path);
    if (inner !== undefined) return [item.path, ...inner];
  }
  return undefined;
}

/** Whether `path` lies in the body or in an item of `owner`: `pages[0]/fetch` in `pages[0]` and in `pages`. */
function isBelow(owner: string, path: string): boolean {
  return path.startsWith(owner) && /^[/[~]/.test(path.slice(owner.length));
}

/** The accessible name: `<id>, <type>[, <state>][, taken over][, <n> problem(s)]`. */
export function nameOf({ id, type, state, isTakenOver, problems = 0 }: TreeItem): string {
  const parts = [id, type];
  if (state !== undefined) parts.push(state);
  if (isTakenOver) parts.push("taken over");
  if (problems > 0) parts.push(formatCount(problems, "problem"));
  return parts.join(", ");
}

/** The next row after `at`, around the end, whose id begins with what was typed; one letter typed again goes on to the next. */
export function findRow(rows: readonly TreeRow[], at: number, typed: string): number | undefined {
  const letters = [...typed.toLowerCase()];
  const isRepeated = letters.length > 1 && letters.every((letter) => letter === letters[0]);
  const wanted = isRepeated ? (letters[0] as string) : typed.toLowerCase();
  const first = letters.length === 1 || isRepeated ? 1 : 0;
  for (let step = first; step < rows.length + first; step += 1) {
    const found = (at + step) % rows.length;
    if (rows[found]?.item.id.toLowerCase().startsWith(wanted)) return found;
  }
  return undefined;
}
