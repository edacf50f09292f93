/** Which SQLite is used. */
import { StoreError } from "../errors.ts";
import { findDriver } from "./sqlite.js";
import type { SqliteDriver } from "./sqlite-port.ts";

/** Names of the drivers, in the order in which they are tried. */
export type DriverName = "node" | "libsql";

const NAMES: readonly DriverName[] = ["node", "libsql"];

/**
 * The driver that was asked for, else the one that `MILLRACE_SQLITE` names, else the first there is: `node:sqlite` of Node,
 * then the package `libsql`. Throws `StoreError` `store_unavailable` when it is not there.
 */
export function chooseDriver(wanted?: DriverName): SqliteDriver {
  const name = wanted ?? forced();
  for (const each of name === undefined ? NAMES : [name]) {
    const driver = findDriver(each);
    if (driver !== undefined) return driver;
  }
  const missing =
    name === "node"
      ? "this Node has no node:sqlite; use Node 22.5 or newer, or the package libsql"
      : 'the package "libsql" is not installed; install it, or use Node 22.5 or newer';
  throw new StoreError("store_unavailable", `there is no SQLite here: ${missing}`);
}

function forced(): DriverName | undefined {
  const value = process.env["MILLRACE_SQLITE"];
  if (value === undefined || value === "") return undefined;
  const name = NAMES.find((each) => each === value);
  if (name === undefined) {
    throw new StoreError(
      "store_unavailable",
      `MILLRACE_SQLITE is "node" or "libsql", not "${value}"`,
    );
  }
  return name;
}
