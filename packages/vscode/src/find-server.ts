/** Which language server answers: that of a setting, of the workspace, of the PATH, or the one that came with the extension. */

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** Where the choice looks. */
export interface ServerPlaces {
  /** The setting `millrace.path`; empty: not set. */
  readonly setting: string;
  /** Folders of the workspace. */
  readonly folders: readonly string[];
  /** Whether the user trusts the workspace. */
  readonly isTrusted: boolean;
  /** The variable PATH. */
  readonly path: string;
  readonly platform: NodeJS.Platform;
}

/** A command `millrace`; `from` says to the user where it was found. */
export interface FoundCommand {
  readonly command: string;
  readonly from: "setting" | "workspace" | "PATH";
}

/** The server that was found, and the problem of the setting. */
export interface FoundServer {
  /** Undefined: only the server of the extension is there. */
  readonly found: FoundCommand | undefined;
  readonly problem?: string;
}

/**
 * The first command there is of: the setting `millrace.path`, `node_modules/.bin` of the workspace, the PATH. A workspace that is not
 * trusted chooses nothing: the setting and its folders are not looked at, because a checkout must not choose what runs.
 */
export function findServer(places: ServerPlaces): FoundServer {
  const { setting, folders, isTrusted, path, platform } = places;
  const names = platform === "win32" ? ["millrace.cmd", "millrace.exe"] : ["millrace"];
  let problem: string | undefined;
  if (isTrusted && setting !== "") {
    if (isAbsolute(setting) && isProgram(setting)) {
      return { found: { command: setting, from: "setting" } };
    }
    problem = `the setting millrace.path is no program: ${setting}; give the absolute path of the command millrace`;
  }
  const bins = isTrusted ? folders.map((folder) => join(folder, "node_modules", ".bin")) : [];
  const onPath = path.split(delimiter).filter(isAbsolute); // a relative one would be a folder of the workspace
  const command = firstProgram(bins, names, "workspace") ?? firstProgram(onPath, names, "PATH");
  return { found: command, ...(problem !== undefined && { problem }) };
}

function firstProgram(
  folders: readonly string[],
  names: readonly string[],
  from: FoundCommand["from"],
): FoundCommand | undefined {
  const files = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  const command = files.find(isProgram);
  return command === undefined ? undefined : { command, from };
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false; // there is no such file, or it is not ours to run
  }
}
