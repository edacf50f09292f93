/** Starts the process of an extension, with as little as it was granted. */
import { type ChildProcess, fork } from "node:child_process";
import { realpathSync } from "node:fs";
import type { Permissions } from "@millrace/contracts";
import type { Grants } from "../../node-type.ts";
import { deniesNetwork, permissionFlag } from "./permissions.ts";
import { ProblemFound } from "./problem.ts";
import { childProgram } from "./program.ts";

const HEAP_MIB = 256; // an adapter that needs more keeps what should be in a file

/** What a process is started for. */
export interface ChildSetup {
  /** Real folder of the package. */
  readonly folder: string;
  /** Real folders of the package and of its dependencies, and the links to them. */
  readonly readable: readonly string[];
  readonly granted: Permissions;
  readonly grants: Grants;
}

/**
 * Starts it. Throws `ProblemFound` `extension_mode_unsupported` where this Node has no permission model, and for a path with a
 * comma, which its flags cannot name.
 */
export function startChild({ folder, readable, granted, grants }: ChildSetup): ChildProcess {
  const flag = permissionFlag();
  if (flag === undefined) {
    const text =
      "this Node has no permission model; add it with --in-process if you trust its code";
    throw new ProblemFound("extension_mode_unsupported", text);
  }
  const program = realpathSync(childProgram());
  const read = [program, ...readable, ...grants.files.read];
  const bad = [...read, ...grants.files.write].find((path) => path.includes(","));
  if (bad !== undefined) {
    const text = `the path ${bad} holds a comma, which the permission model cannot name`;
    throw new ProblemFound("extension_mode_unsupported", text);
  }
  const native =
    granted.native === true && process.allowedNodeEnvironmentFlags.has("--allow-addons");
  const env = (granted.env ?? []).flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return fork(program, [], {
    cwd: folder,
    execArgv: [
      flag,
      "--no-warnings",
      `--max-old-space-size=${HEAP_MIB}`,
      ...read.map((path) => `--allow-fs-read=${path}`),
      ...grants.files.write.map((path) => `--allow-fs-write=${path}`),
      ...(native ? ["--allow-addons"] : []),
    ],
    env: Object.fromEntries(env),
    // The channel alone: a descriptor that is inherited is not asked for its permission.
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "json",
  });
}

/** Whether the child has to refuse the network by itself. */
export function needsTripwire(): boolean {
  return !deniesNetwork();
}
