/** Where each value of the configuration comes from, and what it replaces. */

import { isObject } from "@millrace/contracts/kit";
import type { CliIo } from "../output/io.ts";
import type { ConfigFile, ConfigOptions } from "./files.ts";
import { lineOf } from "./json-text.ts";
import { type ConfigKey, POWER_KEYS } from "./keys.ts";
import { ALL_KEYS } from "./limit-keys.ts";
import { readSources } from "./sources.ts";
import { type Project, type Trust, trustOf } from "./trust.ts";
import { fromEnvironment, merge, valueAt, variableFor } from "./values.ts";

/** A place that says something of a key. */
export interface Origin {
  readonly source: "variable" | "project" | "user" | "default";
  /** The variable, or file and line; absent for a default. */
  readonly where?: string;
  readonly value: unknown;
}

/** Every value with all the places that say something of it. */
export interface ExplainedConfig {
  readonly userPath: string;
  readonly user: ConfigFile | undefined;
  readonly project: Project | undefined;
  /** How the project stands; absent without one. */
  readonly trust: Trust | undefined;
  /** Every origin of a key or of a part of one, strongest first. */
  origins(key: string): readonly Origin[];
  /** The value of a key, all of its origins merged. */
  value(key: string): unknown;
  /** Keys with a value or a default, members of records one by one. */
  keys(): readonly string[];
}

/** Reads all sources. Needs no trust: nothing acts on what it returns. */
export async function explainConfig(options: ConfigOptions, io: CliIo): Promise<ExplainedConfig> {
  const { userPath, user, project: file, descriptors } = await readSources(options, io);
  const project = file && { file, descriptors };
  const trust = project === undefined ? undefined : await trustOf(project, options.home, io);
  const environment = fromEnvironment(io, ALL_KEYS);
  const counting =
    project === undefined || trust === undefined ? {} : countingValues(project, trust);
  const values = merge(merge(user?.values ?? {}, counting), environment);

  function origins(key: string): readonly Origin[] {
    const known = keyOf(key);
    const found: Origin[] = [];
    const variable = known === undefined ? undefined : variableFor(known, io);
    const named = valueAt(environment, key);
    if (variable !== undefined && named !== undefined)
      found.push({ source: "variable", where: variable, value: named });
    for (const [source, each, seen] of [
      ["project", project?.file, counting],
      ["user", user, user?.values ?? {}],
    ] as const) {
      const value = valueAt(seen, key);
      if (value !== undefined && each !== undefined)
        found.push({ source, where: lineOf(each, key), value });
    }
    if (known?.key === key && known.default !== undefined)
      found.push({ source: "default", value: known.default });
    return found;
  }

  return {
    userPath,
    user,
    project,
    trust,
    origins,
    value: (key) => valueAt(values, key) ?? keyOf(key, true)?.default,
    keys: () =>
      ALL_KEYS.flatMap((each) => {
        const value = valueAt(values, each.key);
        if (each.type === "record" && isObject(value)) return leaves(each.key, value);
        return value === undefined && each.default === undefined ? [] : [each.key];
      }),
  };
}

/** The key of the table that this is, or is a part of. */
export function keyOf(key: string, exact = false): ConfigKey | undefined {
  return ALL_KEYS.find(
    (each) =>
      each.key === key || (!exact && each.type === "record" && key.startsWith(`${each.key}.`)),
  );
}

/** Without trust, a key that grants power is as if it were not there. */
function countingValues({ file }: Project, { state }: Trust): Readonly<Record<string, unknown>> {
  if (state === "powerless" || state === "trusted") return file.values;
  return Object.fromEntries(
    Object.entries(file.values).filter(([name]) => !POWER_KEYS.includes(name)),
  );
}

function leaves(key: string, value: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(value).flatMap(([name, each]) =>
    isObject(each) && Object.keys(each).length > 0
      ? leaves(`${key}.${name}`, each)
      : [`${key}.${name}`],
  );
}
