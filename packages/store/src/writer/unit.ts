/** Rows that are written together: statements with their rows, and rows of the journal, all of it or nothing. */
import type { Lines, Op, Statement } from "../sql/port.ts";

/**
 * The same for the thread: of each event its time, the place of its kind in `kinds`, and where its line ends in `bytes`, from `at` on in
 * `numbers`; the first line begins at `start`.
 */
export interface PackedLines extends Omit<Lines, "events" | "runId"> {
  readonly count: number;
  readonly kinds: readonly string[];
  readonly numbers: Float64Array;
  readonly at: number;
  readonly bytes: Uint8Array;
  readonly start: number;
}

/** SQL text without values. */
interface Exec {
  readonly exec: string;
  readonly lines?: never;
}

/** Part of a unit: of a transaction, or SQL text without values. */
export type UnitOp = Op | Exec;

/** The same as it is written. */
export type PackedOp = Statement | { readonly lines: PackedLines } | Exec;

/** A unit on its way to the thread. `quiet`: its results are not asked for. */
export interface Posted {
  readonly id: number;
  readonly sync: boolean;
  readonly bytes: number;
  readonly records: number;
  readonly quiet: boolean;
  readonly ops: readonly UnitOp[];
}
