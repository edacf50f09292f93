/** The smallest transaction, and transactions that may be refused. */
import type { Op, SqlValue, SqlWriter, WriteOptions } from "./port.ts";
import { Refusal } from "./refusal.ts";

/** Runs one statement with one row; how many rows it has changed. `topics` as of `SqlWriter.write`. */
export async function change(
  writer: SqlWriter,
  { sql, values = [], topics = [] }: Change,
): Promise<number> {
  const [changes] = await writer.write([{ sql, rows: [values] }], { topics });
  return Number(changes);
}

interface Change {
  readonly sql: string;
  readonly values?: readonly SqlValue[];
  readonly topics?: readonly string[];
}

/** Writes; false: its rows have refused it, and nothing was written. With `code` any other refusal is thrown. */
export async function attempt(
  writer: SqlWriter,
  ops: readonly Op[],
  { code, ...options }: WriteOptions & { readonly code?: string } = {},
): Promise<boolean> {
  try {
    await writer.write(ops, options);
    return true;
  } catch (error) {
    if (error instanceof Refusal && (code ?? error.code) === error.code) return false;
    throw error;
  }
}
