/** Types of `sqlite.js`, which is plain JavaScript because the writer thread loads it as it stands. */
import type { Fault, SqliteDriver, SqlValue } from "./sqlite-port.ts";

/** The driver called `name`; undefined when it is not there. */
export function findDriver(name: "node" | "libsql"): SqliteDriver | undefined;
/** Which of them an error of either driver tells; undefined: none. */
export function faultOf(error: unknown): Fault | undefined;
/** The value as every store can keep it: text without NUL, which is shown as `␀`. */
export function storable(value: SqlValue): SqlValue;
