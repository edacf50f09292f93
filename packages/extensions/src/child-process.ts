/** Starts the process of an extension, with as little as it was granted. */
import { type ChildProcess, spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import type { Permissions } from "@millrace/contracts";
import type { Grants } from "@millrace/engine";
import { deniesNetwork, hasSockets, permissionFlag } from "./permissions.ts";
import { ProblemFound } from "./problem.ts";
import { childProgram } from "./program.ts";
import { reapWithHost } from "./reaper.ts";

const HEAP_MIB = 256; // an adapter that needs more keeps what should be in a file

export interface ChildSetup {
  /** Real folder of the package. */
  readonly folder: string;
  /** Real folders of the package and of its dependencies, and the links to them. */
  readonly readable: readonly string[];
  readonly granted: Permissions;
  readonly grants: Grants;
  /** Whether its standard output and error are read; otherwise they are dropped. */
  readonly isHeard: boolean;
}

/**
 * Starts it. Throws `ProblemFound` `extension_mode_unsupported` where this Node has no permission model, and for a path with a
 * comma or a star, which its flags take for the end of a path, and for every path.
 */
export function startChild({
  folder,
  readable,
  granted,
  grants,
  isHeard,
}: ChildSetup): ChildProcess {
  const flag = permissionFlag();
  if (flag === undefined) {
    const text =
      "this Node has no permission model; add it with --in-process if you trust its code";
    throw new ProblemFound("extension_mode_unsupported", text);
  }
  const program = realpathSync(childProgram());
  // A path that is there twice ends the process at its start.
  const read = [...new Set([program, ...readable, ...grants.files.read])];
  const bad = [...read, ...grants.files.write].find((path) => /[,*]/.test(path));
  if (bad !== undefined) {
    const text = `the path ${bad} holds a comma or a star, which the permission model takes for something else`;
    throw new ProblemFound("extension_mode_unsupported", text);
  }
  const native =
    granted.native === true && process.allowedNodeEnvironmentFlags.has("--allow-addons");
  const env = (granted.env ?? []).flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const words = [
    flag,
    "--no-warnings",
    `--max-old-space-size=${HEAP_MIB}`,
    ...read.map((path) => `--allow-fs-read=${path}`),
    ...grants.files.write.map((path) => `--allow-fs-write=${path}`),
    ...(native ? ["--allow-addons"] : []),
    ...(hasSockets(granted) && deniesNetwork() ? ["--allow-net"] : []),
    program,
  ];
  const child = spawn(process.execPath, words, {
    cwd: folder,
    env: Object.fromEntries(env),
    // Pipes alone: a descriptor that is inherited is not asked for its permission.
    stdio: ["ignore", isHeard ? "pipe" : "ignore", isHeard ? "pipe" : "ignore", "pipe"],
    windowsHide: true,
  });
  reapWithHost(child);
  return child;
}

/** Whether the child has to refuse the network by itself. */
export function needsTripwire(granted: Permissions): boolean {
  return !deniesNetwork() || hasSockets(granted);
}

/** How a process ended, for a message: `exit code 3`, `signal SIGKILL`. */
export function endOf(code: number | null, signal: string | null): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}
