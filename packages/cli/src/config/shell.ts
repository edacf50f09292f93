/** The key `shell`: which programs flows may start, and what these get. */
import { isAbsolute, resolve } from "node:path";
import type { ShellPolicy } from "@millrace/engine";
import { usage } from "../errors.ts";
import { clean } from "../render/text.ts";

/**
 * The policy that the key says: `{"programs": {"git": "/usr/bin/git"}, "env": ["PATH"], "cwdRoot": "."}`. Programs run in
 * `cwdRoot`, taken from the folder of the configuration; default the folder of files, else that folder. A program is a
 * whole path, because a search would let a flow's folder decide what `git` is.
 */
export function readShell(
  value: unknown,
  at: { readonly folder: string; readonly filesRoot: string | undefined },
): ShellPolicy | undefined {
  if (value === undefined) return undefined;
  const { programs, env = [], cwdRoot, ...rest } = record(value, "shell");
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) {
    throw usage(`shell has programs, env and cwdRoot, and no "${clean(unknown)}"`);
  }
  return {
    programs: programsIn(programs),
    env: namesIn(env),
    cwdRoot: folderIn(cwdRoot, at),
  };
}

function programsIn(value: unknown): { readonly [name: string]: string } {
  const programs = Object.entries(record(value, "shell.programs"));
  for (const [name, path] of programs) {
    if (typeof path === "string" && isAbsolute(path)) continue;
    throw usage(`shell.programs: "${clean(name)}" takes the whole path of a program`);
  }
  return Object.fromEntries(programs) as { readonly [name: string]: string };
}

function namesIn(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === "string")) return value;
  throw usage('shell.env takes a list of names of variables, such as ["PATH"]');
}

function folderIn(
  value: unknown,
  { folder, filesRoot }: { readonly folder: string; readonly filesRoot: string | undefined },
): string {
  if (value === undefined) return filesRoot ?? folder;
  if (typeof value === "string" && value !== "") return resolve(folder, value);
  throw usage("shell.cwdRoot takes a folder");
}

function record(value: unknown, name: string): { readonly [key: string]: unknown } {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as { readonly [key: string]: unknown };
  }
  throw usage(`${name} must be a JSON object`);
}
