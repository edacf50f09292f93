/** Errors of the driver and of the server, by what follows from them. Their texts may hold values of rows and are not handed on. */
import { StoreError } from "@millrace/store";
import { Refusal } from "@millrace/store/sql";

/**
 * `cut`: the connection is gone, or this server is not one to write to. `again`: the transaction lost against another one, and the
 * same may succeed. `full`: the disk is full. `broken`: a constraint refuses a row. `wrong`: anything else.
 */
export type Fault = "cut" | "again" | "full" | "broken" | "wrong";

/** Code that the function `need` of the schema raises; its message is the code of the refusal. */
export const REFUSED = "MR001";
const UNIQUE = "23505";
/** Nothing can be written: a primary that has become a standby, or a server that was set so. */
export const READ_ONLY_STATE = "25006";

/** SQLSTATE → fault, the longest prefix first. @see https://www.postgresql.org/docs/current/errcodes-appendix.html */
const FAULTS: readonly (readonly [prefix: string, fault: Fault])[] = [
  ["08", "cut"], // connection exceptions
  ["57P", "cut"], // shutdown, crash, starting, idle session
  ["25P03", "cut"], // idle in a transaction
  [READ_ONLY_STATE, "cut"],
  ["53300", "cut"], // too many connections
  ["3D000", "cut"], // no such database
  ["28", "cut"], // authentication is refused
  ["26000", "cut"], // a prepared statement that is gone
  ["0A000", "cut"], // a cached plan of tables that were changed: only a new connection forgets it
  ["40", "again"], // serialisation, deadlock
  ["55P03", "again"], // lock not available in time
  ["23503", "again"], // a row that another transaction deletes, or refers to, at this moment
  ["53100", "full"],
  ["23", "broken"],
];

/** The SQLSTATE of an error of the server, or the code of a failed socket. */
export function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}

/** Kind of an error. One without an SQLSTATE comes from the socket or from a connection that has ended. */
export function faultOf(error: unknown): Fault {
  if (error instanceof RangeError) return "wrong"; // ours
  if (isSilence(error)) return "cut";
  const code = codeOf(error);
  return FAULTS.find(([prefix]) => code.startsWith(prefix))?.[1] ?? "wrong";
}

/** Whether it is no word of the server, but of the socket, or of a call that was not answered in time. */
export function isSilence(error: unknown): boolean {
  const code = codeOf(error);
  return !/^[0-9A-Z]{5}$/.test(code) || /^E[A-Z]{4}$/.test(code); // such as EPIPE
}

/** Whether the store itself says no. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Refusal || StoreError.isInstance(error);
}

/** Whether the row is there already. */
export const isTaken = (error: unknown): boolean => codeOf(error) === UNIQUE;

/** Names an error without values of rows, which may be secret. What the driver says by itself has none. */
export function nameOf(error: unknown): string {
  const { code, table, column, constraint, routine } = error as {
    readonly [part: string]: unknown;
  };
  const parts = [code, table, column, constraint, routine].filter(
    (part) => typeof part === "string" && part !== "",
  );
  return parts.length > 0 ? parts.join(" ") : (error as Error).message;
}

/** Why PostgreSQL takes no connection, for whoever has to mend it; by SQLSTATE or its beginning. */
const REASONS: readonly (readonly [prefix: string, reason: string])[] = [
  ["28", "it does not let this user in"],
  ["3D000", "it has no database of this name"],
  ["53300", "it has no connection left for this user"],
  [READ_ONLY_STATE, "it takes no writes: it is a standby, or was set read-only"],
];

/** The error for callers of the store. */
export function toStoreError(error: unknown, what: string): StoreError {
  if (StoreError.isInstance(error)) return error;
  const code = faultOf(error) === "full" ? "store_full" : "store_unavailable";
  const state = codeOf(error);
  const reason = REASONS.find(([prefix]) => state.startsWith(prefix))?.[1];
  const text = reason === undefined ? nameOf(error) : `${reason} (${state})`;
  return new StoreError(code, `${what}: ${text}`);
}

/** The refusal while the database cannot be reached. */
export function away(): StoreError {
  return new StoreError("store_unavailable", "the database is away; try again later");
}
