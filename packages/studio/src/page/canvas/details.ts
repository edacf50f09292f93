/** Details of a node besides its id and type. */
import type { NodeState } from "@millrace/contracts";
import { formatDuration } from "../parts/format.ts";
import { symbolOf } from "../parts/run-status.tsx";

/** Details of one node. */
export interface NodeDetails {
  readonly state?: NodeState;
  readonly durationMs?: number;
  /** Items of a body; without `total` it is not known how many there are. */
  readonly progress?: { readonly done: number; readonly total?: number };
  /** How many problems it has. */
  readonly problems?: number;
  /** A few words that follow its state. */
  readonly note?: string;
}

/** Details of nodes by their paths in the flow. */
export type DetailsByPath = ReadonlyMap<string, NodeDetails>;

/** The line of a card about a run, such as `✓ succeeded 4 ms`; "" without a state. */
export function stateLine({ state, durationMs, progress, note }: NodeDetails): string {
  const parts: string[] = [];
  if (state !== undefined) parts.push(symbolOf(state), state);
  if (progress !== undefined) parts.push(`${progress.done}/${progress.total ?? "?"}`);
  if (durationMs !== undefined) parts.push(formatDuration(durationMs));
  if (note !== undefined) parts.push(note);
  return parts.join(" ");
}

/** Whether two nodes show the same. */
export function sameDetails(a: NodeDetails = NONE, b: NodeDetails = NONE): boolean {
  return (
    a === b ||
    (a.state === b.state &&
      a.durationMs === b.durationMs &&
      a.problems === b.problems &&
      a.note === b.note &&
      a.progress?.done === b.progress?.done &&
      a.progress?.total === b.progress?.total)
  );
}

const NONE: NodeDetails = {};
