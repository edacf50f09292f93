/** The extensions of a project: the two files that say which it has, and what a person reads of one before and after it is granted. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ExtensionRuntime, Permissions } from "@millrace/contracts";
import {
  type InspectedExtension,
  type ListedExtension,
  permissionLines,
  readLock,
  runtimeOf,
} from "@millrace/extensions";
import type { CommandIo, Input } from "../../argv/spec.ts";
import { configOptions, editConfig, PROJECT_FILE, projectFile } from "../../config/files.ts";
import { type ExtensionsChoice, readExtensionList } from "../../config/sections.ts";
import { usage } from "../../errors.ts";
import { factLines } from "../../output/table.ts";
import { clean } from "../../output/text.ts";

export interface ExtensionProject {
  readonly folder: string;
  readonly file: string;
  readonly choice: ExtensionsChoice;
  readonly written: readonly unknown[];
  readonly lock: Awaited<ReturnType<typeof readLock>>;
  /** Names of the packages that the project had without us; theirs are not taken away. */
  readonly dependencies: readonly string[];
}

/** The nearest project; the working directory where there is none. Throws a usage error for files that cannot be read. */
export async function findProject(input: Input, io: CommandIo): Promise<ExtensionProject> {
  const found = await projectFile(configOptions(input, io), io);
  const file = found?.path ?? join(io.cwd, PROJECT_FILE);
  const folder = join(file, "..");
  const value = found?.values["extensions"];
  const lock = await readLock(folder).catch((error: unknown) => {
    throw usage(error instanceof Error ? error.message : String(error));
  });
  const choice = readExtensionList(value);
  const dependencies = await dependenciesOf(folder);
  return { folder, file, choice, written: Array.isArray(value) ? value : [], lock, dependencies };
}

async function dependenciesOf(folder: string): Promise<readonly string[]> {
  const text = await readFile(join(folder, "package.json"), "utf8").catch(() => "{}");
  try {
    const file: { readonly [field: string]: unknown } = Object(JSON.parse(text));
    return ["dependencies", "devDependencies", "optionalDependencies"].flatMap((field) =>
      Object.keys(Object(file[field])),
    );
  } catch {
    return []; // the package manager says what is wrong with it
  }
}

export async function writeList(
  { file, written }: ExtensionProject,
  change: { readonly add?: string; readonly remove?: string },
): Promise<void> {
  const { add, remove } = change;
  const kept = written.filter((each) => nameOf(each) !== remove);
  const isThere = kept.some((each) => nameOf(each) === add);
  const next = add === undefined || isThere ? kept : [...kept, add];
  await editConfig(file, "extensions", next.length === 0 ? undefined : next);
}

function nameOf(each: unknown): unknown {
  return typeof each === "object" && each !== null ? (each as { package?: unknown }).package : each;
}

export interface Offer {
  readonly inspected: InspectedExtension;
  readonly source: string;
  readonly integrity: string;
  readonly mode: ExtensionRuntime["mode"];
}

/** The lines of a grant screen. `hosts`: those that a person names beside what is asked for. */
export function offerLines(
  { inspected, source, integrity, mode }: Offer,
  hosts: readonly string[],
): readonly string[] {
  const { manifest } = inspected;
  const { nodes, providers, services } = manifest.contributes;
  const asked = permissionLines(manifest.permissions);
  return [
    clean(`${manifest.name} ${manifest.version}`),
    ...factLines([
      ["source", source],
      ["integrity", integrity || inspected.treeDigest],
      ["nodes", nodes.join(", ")],
      ["providers", providers.join(", ")],
      ["services", services.join(", ")],
      ["flows", manifest.templates === undefined ? "" : `offered in ${manifest.templates}`],
      ["mode", modeText(mode)],
      ["asks for", asked.length === 0 ? "nothing" : asked.join(", ")],
      ["also granted", permissionLines({ net: hosts }).join(", ")],
      ["enforced", enforcementText(runtimeOf(mode, manifest.permissions))],
    ]).map((line) => `  ${line}`),
  ];
}

function modeText(mode: ExtensionRuntime["mode"]): string {
  return mode === "child"
    ? "child: a process of its own"
    : "inProcess: inside millrace itself, which its code can read and change";
}

/** `fs, env, spawn, native by Node; net by a tripwire, which stops accidents and no attacker`. */
export function enforcementText({ enforcement }: ExtensionRuntime): string {
  const of = (how: string): string =>
    Object.entries(enforcement)
      .filter(([, each]) => each === how)
      .map(([name]) => name)
      .join(", ");
  const [runtime, tripwire, none] = ["runtime", "tripwire", "none"].map(of);
  return [
    runtime && `${runtime} by Node`,
    tripwire && `${tripwire} by a tripwire, which stops accidents and no attacker`,
    none && `nothing on ${none}: its code is trusted`,
  ]
    .filter(Boolean)
    .join("; ");
}

/** One extension as a program reads it. */
export function toRow(listed: ListedExtension): object {
  const { name, version, source, mode, state, problem, granted, inspected, warnings } = listed;
  return {
    name,
    version: version ?? null,
    source: source ?? null,
    mode,
    state,
    ...(problem !== undefined && { problem }),
    contributes: inspected?.manifest.contributes ?? { nodes: [], providers: [], services: [] },
    granted: granted as Permissions,
    enforcement: runtimeOf(mode, granted).enforcement,
    warnings,
  };
}
