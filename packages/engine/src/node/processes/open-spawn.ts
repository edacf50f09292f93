/**
 * The programs of Node's host.
 *   S1  Only what the operator lists is started, by its absolute path: no shell, no search in `PATH`.
 *   S2  A program sees the variables that the operator names and those of the flow, and no others.
 *   S3  It runs in the operator's folder or below it, links included.
 */

import { isAbsolute } from "node:path";
import { NodeError, type SpawnOptions } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import type { ProgramsPort, ShellPolicy } from "../../host.ts";
import { explained } from "../files/failures.ts";
import { partsOf } from "../files/flow-path.ts";
import { type Folder, openFolder } from "../files/folder.ts";
import { denied, notStarted } from "./failures.ts";
import type { ProcessGroup } from "./group.ts";

const DEFAULT_MAX_BYTES = 1_048_576;

/**
 * The programs of a policy. Refuses with `NodeError`: `program_denied`, `spawn_failed`. An aborted signal ends the program
 * with its process group (SIGTERM, after two seconds SIGKILL; on Windows the program alone) and rejects with the reason. `close`
 * ends all that are left in the same way; the exit of this process kills them.
 * Throws `TypeError` for a policy that cannot be read.
 */
export function openSpawn(policy: ShellPolicy): ProgramsPort {
  const programs = programsOf(policy);
  const { env: passed = [], cwdRoot = process.cwd() } = policy;
  if (!isList(passed)) throw new TypeError("shell: env is not a list of names of variables");
  if (typeof cwdRoot !== "string" || !isAbsolute(cwdRoot)) {
    throw new TypeError(`shell: the folder ${JSON.stringify(cwdRoot)} is not an absolute path`);
  }
  const groups = new Set<ProcessGroup>();
  return {
    async close() {
      await Promise.all([...groups].map((group) => group.gone()));
    },
    async run(program: string, options: SpawnOptions = {}) {
      const { args = [], stdin, env = {}, cwd = ".", signal } = options;
      const { maxBytes = DEFAULT_MAX_BYTES } = options;
      const path = programs.get(program);
      if (path === undefined) {
        throw denied(`the program ${JSON.stringify(program.slice(0, 100))} is not allowed here`);
      }
      const variables = environment(passed, env);
      const folder = await openCwd(cwdRoot, cwd);
      try {
        const child = { program, path, args, cwd: folder.at("."), env: variables };
        const { runChild } = await import("./child.ts"); // most runs start no program
        return await runChild(child, { stdin, maxBytes, signal, groups });
      } finally {
        await folder.close();
      }
    },
  };
}

/** By name, so that no name of a flow can mean something else. */
function programsOf({ programs }: ShellPolicy): ReadonlyMap<string, string> {
  if (!isObject(programs)) {
    throw new TypeError('shell: programs is not an object such as { "git": "/usr/bin/git" }');
  }
  for (const [name, path] of Object.entries(programs)) {
    if (typeof path === "string" && isAbsolute(path)) continue;
    throw new TypeError(`shell: the path of the program ${JSON.stringify(name)} is not absolute`);
  }
  return new Map(Object.entries(programs));
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

/**
 * Variables that decide which code a program loads before it reads its arguments: with one of them an allowed program is
 * any program. No list of them is complete; it stops the ways that every system has.
 */
const OF_THE_OPERATOR =
  /^(?:PATH|LD_.*|DYLD_.*|NODE_OPTIONS|BASH_ENV|ENV|PERL5OPT|PYTHONPATH|RUBYOPT|JAVA_TOOL_OPTIONS)$/i;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The variables `passed` of this process, as far as it has them, and over them those of the flow. Throws `program_denied`. */
function environment(
  passed: readonly string[],
  own: { readonly [name: string]: string },
): { readonly [name: string]: string } {
  const variables = new Map<string, string>();
  for (const name of passed) {
    const value = process.env[name];
    if (value !== undefined) variables.set(name, value);
  }
  for (const [name, value] of Object.entries(own)) {
    if (!NAME.test(name)) {
      throw denied(`env: ${JSON.stringify(name.slice(0, 100))} is no name of a variable`);
    }
    if (OF_THE_OPERATOR.test(name)) {
      throw denied(
        `env: ${name} decides what code a program loads; only the operator passes it on`,
      );
    }
    variables.set(name, value);
  }
  return Object.fromEntries(variables);
}

/** Opens `cwd` below `root`. Throws `program_denied` for a way out, `spawn_failed` for a folder that is not there. */
async function openCwd(root: string, cwd: string): Promise<Folder> {
  try {
    const parts = partsOf(cwd.replace(/(?<=[^/])\/$/, ""));
    return await openFolder(root, parts, { path: cwd });
  } catch (error) {
    const told = explained(error, cwd);
    if (!NodeError.isInstance(told)) throw told;
    throw told.code === "file_not_found"
      ? notStarted(`the folder ${told.message}`)
      : denied(`the folder ${told.message}`);
  }
}
