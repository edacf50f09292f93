/** What is written together: statements with their rows, and rows of the journal, all of it or nothing. */
import type { EncodedEvent } from "@millrace/contracts";
import type { SqlRow, SqlValue } from "../sqlite/sqlite-port.ts";

/** Events of one run that follow each other, to be rows of the journal. */
export interface Lines {
  readonly run: number;
  readonly events: readonly EncodedEvent[];
}

/** The same for the thread. `kinds` are joined by a blank; `block` holds them from `at` on. */
export interface PackedLines {
  readonly run: number;
  readonly seq: number;
  readonly count: number;
  readonly kinds: string;
  readonly block: ArrayBuffer;
  readonly at: number;
}

/** One statement, run for each row. `need`: code of the refusal when it changed or found nothing. `get`: its row is wanted. */
interface Statement {
  readonly sql: string;
  readonly rows: readonly (readonly SqlValue[])[];
  readonly need?: string;
  readonly get?: true;
  readonly lines?: never;
}

/** SQL text without values. */
interface Exec {
  readonly exec: string;
  readonly lines?: never;
}

/** Part of a unit: a statement with rows, all of which have as many values, rows of the journal, or SQL text without values. */
export type Op = Statement | { readonly lines: Lines } | Exec;

/** The same as it is written. */
export type PackedOp = Statement | { readonly lines: PackedLines } | Exec;

/** Number of changed rows of an operation, or the row that it found. */
export type OpResult = number | SqlRow | undefined;

/** A unit on its way to the thread. `quiet`: its results are not asked for. */
export interface Posted {
  readonly id: number;
  readonly sync: boolean;
  readonly bytes: number;
  readonly records: number;
  readonly quiet: boolean;
  readonly ops: readonly Op[];
}
