/** Values that are kept beside the log: those of steps, and large ones that events name. */
import type { Json } from "@millrace/contracts";
import type { Op, SqlRow } from "../sql/port.ts";

const INLINE_BYTES = 65_536; // larger values lie in `blob`, out of the way of scans

interface KeptValue {
  readonly run: number;
  readonly name: string;
  readonly ref: string;
  readonly value: Json;
}

/** The statements that keep a value under its name. */
export function valueRows({ run, name, ref, value }: KeptValue): Op[] {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  const isLarge = bytes > INLINE_BYTES;
  const row: Op = {
    sql:
      "INSERT INTO step_value(run, key, ref, value) VALUES(?, ?, ?, ?) " +
      "ON CONFLICT(run, key) DO UPDATE SET ref = excluded.ref, value = excluded.value",
    rows: [[run, name, ref, isLarge ? null : text]],
  };
  if (!isLarge) return [row];
  return [
    {
      sql: "INSERT INTO blob(digest, bytes, media_type, body) VALUES(?, ?, 'application/json', ?) ON CONFLICT DO NOTHING",
      rows: [[ref, bytes, Buffer.from(text)]],
    },
    {
      sql: "INSERT INTO run_blob(run, digest) VALUES(?, ?) ON CONFLICT DO NOTHING",
      rows: [[run, ref]],
    },
    row,
  ];
}

/** The value of a row with `value` and `body`. */
export function parsedValue({ value, body }: SqlRow): Json {
  return JSON.parse(
    value === null ? Buffer.from(body as Uint8Array).toString("utf8") : String(value),
  );
}
