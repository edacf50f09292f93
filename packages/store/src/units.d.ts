import type { SqliteDb } from "./sqlite-port.ts";
import type { Op, OpResult } from "./writer.ts";

/** What came of one unit. */
export type UnitAnswer =
  | { readonly id: number; readonly results: readonly OpResult[] }
  | { readonly id: number; readonly code: string; readonly message: string };

export function createUnits(
  db: SqliteDb,
): (unit: { readonly id: number; readonly ops: readonly Op[] }) => UnitAnswer;
