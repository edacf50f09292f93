/** Where this machine keeps the data of its user. */
import { homedir } from "node:os";
import { join } from "node:path";

/** @see XDG Base Directory Specification; on Windows the local application data */
export function dataFolder(): string {
  const { LOCALAPPDATA, XDG_DATA_HOME } = process.env;
  const base =
    process.platform === "win32"
      ? (LOCALAPPDATA ?? join(homedir(), "AppData", "Local"))
      : XDG_DATA_HOME || join(homedir(), ".local", "share");
  return join(base, "millrace");
}
