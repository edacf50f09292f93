/** Where this person's configuration and data are. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { CliIo } from "../io.ts";

/** The user's configuration file, whether or not it is there. `home` is the flag. */
export function userFile(home: string | undefined, { cwd, env }: CliIo): string {
  const named = home ?? env.MILLRACE_HOME;
  if (named) return join(resolve(cwd, named), "config.json");
  const own = env.HOME ?? homedir();
  const folder =
    process.platform === "win32"
      ? (env.APPDATA ?? join(own, "AppData", "Roaming"))
      : env.XDG_CONFIG_HOME || join(own, ".config");
  return join(folder, "millrace", "config.json");
}

/**
 * The data folder: the store, locks, the encrypted credentials, what was trusted.
 * @see XDG Base Directory Specification; on Windows the local application data
 */
export function dataFolder(home: string | undefined, { cwd, env }: CliIo): string {
  const named = home ?? env.MILLRACE_HOME;
  if (named) return resolve(cwd, named);
  const own = env.HOME ?? homedir();
  const base =
    process.platform === "win32"
      ? (env.LOCALAPPDATA ?? join(own, "AppData", "Local"))
      : env.XDG_DATA_HOME || join(own, ".local", "share");
  return join(base, "millrace");
}
