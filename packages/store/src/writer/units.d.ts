import type { SqliteDb } from "../sqlite/sqlite-port.ts";
import type { Op, OpResult } from "./writer.ts";

/** Result of one unit. */
export type UnitAnswer =
  | { readonly id: number; readonly results: readonly OpResult[] }
  | { readonly id: number; readonly code: string; readonly message: string };

interface Unit {
  readonly id: number;
  readonly ops: readonly Op[];
}

export function createUnits(db: SqliteDb): {
  /** Writes a unit that is alone in its transaction, which the caller rolls back when the answer is a refusal. */
  perform(unit: Unit): UnitAnswer;
  /** Writes one unit of several: all of it or nothing, whatever becomes of the others. */
  performApart(unit: Unit): UnitAnswer;
};
