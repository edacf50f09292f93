/** How the panes of a flow are divided: kept in `localStorage`. */
import { signal } from "@preact/signals";
import { keptByBrowser } from "../../state/storage.ts";

/** The panes that can be hidden. */
export type Pane = "canvas" | "text" | "inspector";

/** Shares of the width in percent, and which panes are hidden. */
export interface Panes {
  readonly canvas: number;
  readonly inspector: number;
  readonly hidden: readonly Pane[];
}

const KEY = "millrace.panes";
/** The least and the most that a pane takes of the width, in percent. */
export const PANE_RANGE = { min: 15, max: 55 };
const START: Panes = { canvas: 36, inspector: 26, hidden: [] };

/** The division of now. */
export const panes = signal<Panes>(readPanes());

/** Changes the division. */
export function setPanes(changes: Partial<Panes>): void {
  panes.value = { ...panes.peek(), ...changes };
  keptByBrowser.set(KEY, JSON.stringify(panes.peek()));
}

/** Shows or hides a pane; one always stays. */
export function togglePane(pane: Pane): void {
  const { hidden } = panes.peek();
  if (hidden.includes(pane)) setPanes({ hidden: hidden.filter((each) => each !== pane) });
  else if (hidden.length < 2) setPanes({ hidden: [...hidden, pane] });
}

function readPanes(): Panes {
  try {
    const kept = JSON.parse(keptByBrowser.get(KEY) ?? "{}") as Partial<Panes>;
    const share = (value: unknown, start: number): number =>
      typeof value === "number" && value >= PANE_RANGE.min && value <= PANE_RANGE.max
        ? value
        : start;
    const all: readonly Pane[] = ["canvas", "text", "inspector"];
    const hidden = all.filter((pane) => Array.isArray(kept.hidden) && kept.hidden.includes(pane));
    return {
      canvas: share(kept.canvas, START.canvas),
      inspector: share(kept.inspector, START.inspector),
      hidden: hidden.length < all.length ? hidden : [],
    };
  } catch {
    return START;
  }
}
