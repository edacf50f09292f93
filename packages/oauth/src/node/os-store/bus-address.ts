/** Where the session bus listens. @see D-Bus Specification, "Server Addresses" */
import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * `socket`: the path for `net.connect`, which begins with NUL for an abstract socket. `none`: the session has no bus.
 * `unknown`: an address that only the libraries of the system understand (`tcp:`, `autolaunch:`, …).
 */
export type BusAddress =
  | { readonly kind: "socket"; readonly path: string }
  | { readonly kind: "none" }
  | { readonly kind: "unknown" };

/** The address that `DBUS_SESSION_BUS_ADDRESS` says, else the socket in `XDG_RUNTIME_DIR`. */
export function sessionBusAddress(env: Readonly<Record<string, string | undefined>>): BusAddress {
  const { DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: folder } = env;
  if (address) return parseAddresses(address);
  const path = folder && join(folder, "bus");
  return path && existsSync(path) ? { kind: "socket", path } : { kind: "none" };
}

/** The first address of the list that is a socket: `unix:path=/run/user/1000/bus,guid=…;unix:abstract=/tmp/dbus-x`. */
function parseAddresses(text: string): BusAddress {
  for (const address of text.split(";")) {
    const [transport, rest = ""] = split(address, ":");
    if (transport !== "unix") continue;
    for (const pair of rest.split(",")) {
      const [name, value = ""] = split(pair, "=");
      const path = unescaped(value);
      if (path === undefined || path === "") continue;
      if (name === "path") return { kind: "socket", path };
      if (name === "abstract") return { kind: "socket", path: `\0${path}` };
    }
  }
  return { kind: "unknown" };
}

function split(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** `%20` is a byte; a value that is not escaped well is none. */
function unescaped(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
