import type { OpResult } from "../sql/port.ts";
import type { SqliteDb } from "../sqlite/sqlite-port.ts";
import type { PackedUnits } from "./packed-units.ts";
import type { PackedOp, Posted } from "./unit.ts";

/** `addToFeed` of the dialect. */
export const ADD_TO_FEED: string;

/** Result of one unit; a quiet one says only that it is written. */
export type UnitAnswer =
  | { readonly id: number; readonly results?: readonly OpResult[] }
  | { readonly id: number; readonly code: string; readonly message: string };

interface Unit {
  readonly id: number;
  readonly quiet?: boolean;
  readonly ops: readonly PackedOp[];
}

export function createUnpacker(): (
  message: PackedUnits,
) => (Omit<Posted, "ops"> & { readonly ops: readonly PackedOp[] })[];

/** `bindsSlowly`: the library of `db` takes longer for the values of a row than SQLite does. */
export function createUnits(
  db: SqliteDb,
  options?: { readonly bindsSlowly?: boolean },
): {
  /** Writes a unit that is alone in its transaction, which the caller rolls back when the answer is a refusal. */
  perform(unit: Unit): UnitAnswer;
  /** Writes the units of one transaction, which the caller rolls back when there is no answer: one of them is refused. */
  performTogether(units: readonly Unit[]): UnitAnswer[] | undefined;
  /** Writes one unit of several: all of it or nothing, whatever becomes of the others. */
  performApart(unit: Unit): UnitAnswer;
};
