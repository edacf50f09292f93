/** The smallest transaction. */
import type { SqlValue, SqlWriter } from "./port.ts";

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
