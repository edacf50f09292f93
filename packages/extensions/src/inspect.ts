/**
 * Extensions as files: manifest, catalog, digests and lock, read and compared. No code of an extension runs here, and what is
 * wrong with one of them is a problem of that one.
 *   I1  what is `ready` is byte for byte what was granted.
 *   I2  an id belongs to core, or to the first extension of the list that has it.
 */
import { join } from "node:path";
import type { CatalogEntry, Permissions } from "@millrace/contracts";
import semver from "semver";
import {
  type ExtensionCatalog,
  type ListedProvider,
  type PlainEntry,
  parseCatalog,
} from "./catalog.ts";
import { contractsVersion } from "./contracts-version.ts";
import { isFolderName, locate } from "./locate.ts";
import {
  type ExtensionLock,
  type ExtensionSource,
  type LockedExtension,
  readLock,
} from "./lock.ts";
import { type ExtensionManifest, type ExtensionMode, parseManifest } from "./manifest.ts";
import { missingGrants, permissionFlag, runtimeOf } from "./permissions.ts";
import { type ExtensionProblem, ProblemFound } from "./problem.ts";
import { CATALOG_BYTES, MANIFEST_BYTES, readText } from "./read-text.ts";
import { sha256, treeDigest } from "./tree-digest.ts";

/** A package that could be read. */
export interface InspectedExtension {
  /** Real folder. */
  readonly folder: string;
  readonly manifest: ExtensionManifest;
  readonly catalog: ExtensionCatalog;
  readonly manifestDigest: string;
  readonly treeDigest: string;
}

/** Ids that are taken by others than extensions. */
export interface TakenIds {
  /** Node types of core, as `type`. */
  readonly types: readonly string[];
  readonly providers?: readonly string[];
  readonly services?: readonly string[];
}

/** One extension of the list. */
export interface ListedExtension {
  /** As the list names it. */
  readonly name: string;
  readonly state: "ready" | "failed";
  readonly problem?: ExtensionProblem;
  readonly version: string | undefined;
  readonly source: ExtensionSource | undefined;
  readonly mode: ExtensionMode;
  readonly granted: Permissions;
  readonly warnings: readonly string[];
  /** Its node types and services, failed ones too, as far as they are known. */
  readonly entries: readonly CatalogEntry[];
  readonly providers: readonly ListedProvider[];
  /** Absent: it could not be read. */
  readonly inspected?: InspectedExtension;
}

/** Options of reading extensions. */
export interface ReadExtensionsOptions {
  /** Folder of `millrace.json` and `millrace.lock.json`. */
  readonly project: string;
  /** Names of packages, and folders that begin with `./`; the first one that has an id keeps it. */
  readonly list: readonly string[];
  readonly taken: TakenIds;
  /** Folders that have changed are used, with a warning. Default false. */
  readonly watch?: boolean;
  /** Granted permissions; default those of the project's lock. */
  readonly lock?: ExtensionLock;
}

/**
 * Reads the extensions of a project, in their order. Nothing is thrown for an extension; throws `TypeError` for a lock that
 * cannot be read.
 */
export async function readExtensions({
  project,
  list,
  taken,
  watch = false,
  lock: given,
}: ReadExtensionsOptions): Promise<readonly ListedExtension[]> {
  if (list.length === 0) return [];
  const lock = given ?? (await readLock(project));
  const read = await Promise.all(list.map((name) => readOne(project, name, lock, watch)));
  return withoutConflicts(read, taken);
}

/** Reads a package as it is, without a lock. Throws `ProblemFound`. */
export async function inspectExtension(project: string, name: string): Promise<InspectedExtension> {
  const folder = await locate(project, name);
  if (folder === undefined) throw new ProblemFound("extension_missing", missing(name));
  const text = await readText(join(folder, "package.json"), MANIFEST_BYTES).catch(() => {
    throw new ProblemFound("extension_missing", missing(name));
  });
  const manifest = parseManifest(text);
  refuseVersion(manifest);
  const catalogText = await readText(join(folder, manifest.catalog), CATALOG_BYTES).catch(() => {
    const what = `${manifest.catalog} cannot be read; build the extension with millrace ext build`;
    throw new ProblemFound("extension_catalog_invalid", what);
  });
  const catalog = parseCatalog(catalogText);
  refuseLies(manifest, catalog);
  return {
    folder,
    manifest,
    catalog,
    manifestDigest: sha256(text),
    treeDigest: await treeDigest(folder, { isWorkedIn: isFolderName(name) }),
  };
}

/** The entries of an extension as its host lists them. */
function entriesOf(
  { manifest: { name, version }, catalog }: InspectedExtension,
  mode: ExtensionMode,
  permissions: Permissions,
  problem: ExtensionProblem | undefined,
): readonly CatalogEntry[] {
  const source = { package: name, version, digest: catalog.digest };
  return catalog.nodes.map(({ requires, ...entry }) =>
    Object.freeze({
      ...entry,
      requires: { ...requires, permissions },
      source,
      ...(entry.kind !== "service" && { runtime: runtimeOf(mode, permissions) }),
      ...(problem === undefined
        ? { state: "ready" as const }
        : { state: "failed" as const, problem }),
    }),
  );
}

async function readOne(
  project: string,
  name: string,
  lock: ExtensionLock,
  watch: boolean,
): Promise<ListedExtension> {
  const locked = lock.get(name);
  const { mode = "child", granted = {} } = locked ?? {};
  const about = { name, version: locked?.version, source: locked?.source, mode, granted };
  try {
    const inspected = await inspectExtension(project, name);
    const { manifest, catalog } = inspected;
    const warnings = [...manifest.warnings];
    const problem = problemOf(inspected, locked, { name, watch, warnings });
    return {
      ...about,
      version: manifest.version,
      state: problem === undefined ? "ready" : "failed",
      ...(problem !== undefined && { problem }),
      warnings,
      entries: entriesOf(inspected, mode, granted, problem),
      providers: catalog.providers,
      inspected,
    };
  } catch (error) {
    const problem =
      error instanceof ProblemFound
        ? error.problem
        : { code: "extension_manifest_invalid" as const, message: "its files cannot be read" };
    return { ...about, state: "failed", problem, warnings: [], entries: [], providers: [] };
  }
}

function problemOf(
  { manifest, ...found }: InspectedExtension,
  locked: LockedExtension | undefined,
  { name, watch, warnings }: { name: string; watch: boolean; warnings: string[] },
): ExtensionProblem | undefined {
  if (locked === undefined) {
    return {
      code: "extension_not_locked",
      message: `nobody has granted it anything: millrace ext add ${name}`,
    };
  }
  const missing = missingGrants(manifest.permissions, locked.granted);
  if (missing.length > 0) {
    const text = `it wants what it was not granted (${missing.join(", ")}): millrace ext trust ${name}`;
    return { code: "extension_permissions_changed", message: text };
  }
  if (found.treeDigest !== locked.treeDigest || found.manifestDigest !== locked.manifestDigest) {
    const text = `its files are not those that were reviewed: millrace ext trust ${name}`;
    if (!watch || !isFolderName(name)) return { code: "extension_changed", message: text };
    warnings.push(text);
  }
  if (locked.mode === "child" && manifest.mode === "inProcess") {
    const text = `it cannot live in a child process: millrace ext add ${name} --in-process, if you trust its code`;
    return { code: "extension_mode_unsupported", message: text };
  }
  if (locked.mode === "child" && permissionFlag() === undefined) {
    const text = "this Node has no permission model for child processes";
    return { code: "extension_mode_unsupported", message: text };
  }
  return undefined;
}

/** The second that has an id is refused whole: half an extension is nothing that anybody has tested. */
function withoutConflicts(
  read: readonly ListedExtension[],
  taken: TakenIds,
): readonly ListedExtension[] {
  const { owners, reserved } = ownersOf(taken);
  const checked = read.map((extension) => {
    if (extension.state === "failed") return extension;
    const { entries, providers, inspected } = extension;
    const ids = idsOf({ nodes: entries, providers, adapters: inspected?.catalog.adapters ?? [] });
    for (const { id, at } of ids) {
      const other = owners.get(id) ?? owners.get(id + at) ?? ownerOfFamily(id, reserved);
      if (other === undefined) continue;
      return failed(extension, {
        code: "extension_conflict",
        message: `${id} belongs to ${other}; ${extension.name} cannot have it, too`,
      });
    }
    for (const { id, at } of ids) owners.set(id + at, extension.name);
    return extension;
  });
  return checked.map((extension) => {
    if (extension.state === "ready") return extension;
    // Of two that have a type the one that works is listed.
    const entries = extension.entries.filter(({ type, version }) => {
      const id = `type ${type}`;
      const at = `${id}@${version}`;
      if (owners.has(id) || owners.has(at) || ownerOfFamily(id, reserved) !== undefined)
        return false;
      owners.set(at, extension.name);
      return true;
    });
    return { ...extension, entries };
  });
}

/** Why no host can have what is in a catalog, whatever else it has; undefined: it can. */
export function reservedId(catalog: ExtensionCatalog, taken: TakenIds): string | undefined {
  const { owners, reserved } = ownersOf(taken);
  for (const { id } of idsOf(catalog)) {
    const owner = owners.get(id) ?? ownerOfFamily(id, reserved);
    if (owner !== undefined) return `${id} belongs to ${owner}; give it another name`;
  }
  return undefined;
}

function ownersOf({ types, providers = [], services = [] }: TakenIds): {
  readonly owners: Map<string, string>;
  readonly reserved: ReadonlySet<string>;
} {
  const owners = new Map<string, string>();
  for (const type of types) owners.set(`type ${type}`, "core");
  for (const id of providers) owners.set(`provider ${id}`, "the configuration");
  for (const id of services) owners.set(`type service.${id}`, "the configuration");
  return { owners, reserved: new Set(types.map((type) => type.split(".")[0] as string)) };
}

function idsOf({
  nodes,
  providers,
  adapters,
}: Pick<ExtensionCatalog, "nodes" | "providers" | "adapters">): { id: string; at: string }[] {
  return [
    ...nodes.map(({ type, version }) => ({ id: `type ${type}`, at: `@${version}` })),
    ...providers.map(({ id }) => ({ id: `provider ${id}`, at: "" })),
    ...adapters.map(({ id }) => ({ id: `adapter ${id}`, at: "" })),
  ];
}

/** The family of a type (`http` of `http.get`) is core's, or begins with our own name. */
function ownerOfFamily(id: string, reserved: ReadonlySet<string>): string | undefined {
  const [kind, name = ""] = id.split(" ");
  const family = name.split(".")[0] as string;
  if (family.startsWith("millrace")) return "core";
  return kind === "type" && family !== "service" && reserved.has(family) ? "core" : undefined;
}

export function failed(extension: ListedExtension, problem: ExtensionProblem): ListedExtension {
  const entries = extension.entries.map((entry) =>
    Object.freeze({ ...entry, state: "failed" as const, problem }),
  );
  return { ...extension, state: "failed", problem, entries };
}

function refuseVersion({ peer, version: own }: ExtensionManifest): void {
  if (semver.valid(own) === null) {
    const text = `package.json /version "${own.slice(0, 64)}" is no version`;
    throw new ProblemFound("extension_manifest_invalid", text);
  }
  if (peer === undefined) return;
  const version = contractsVersion();
  const range = peer.replace(/^workspace:/, "");
  if (range === "^" || range === "~") return; // of the workspace: whatever is there
  if (semver.satisfies(version, range, { includePrerelease: true })) return;
  const text = `it was written for @millrace/contracts ${peer}, this host has ${version}`;
  throw new ProblemFound("extension_api_unsupported", text);
}

/** The manifest says what a person reviews, so it must say what the catalog has. */
function refuseLies({ contributes }: ExtensionManifest, catalog: ExtensionCatalog): void {
  const actual = contributesOf(catalog);
  for (const part of ["nodes", "providers", "services"] as const) {
    if (sameNames(contributes[part], actual[part])) continue;
    const text = `package.json /millrace/contributes/${part} is not what catalog.json has; build it with millrace ext build`;
    throw new ProblemFound("extension_manifest_invalid", text);
  }
}

/** The contributions in a manifest, derived from a catalog. */
export function contributesOf({
  nodes,
  providers,
}: ExtensionCatalog): ExtensionManifest["contributes"] {
  const isService = ({ kind }: PlainEntry): boolean => kind === "service";
  return {
    nodes: nodes
      .filter((entry) => !isService(entry))
      .map(({ type, version }) => (version === 1 ? type : `${type}@${version}`)),
    providers: providers.map(({ id }) => id),
    services: nodes.filter(isService).map(({ type }) => type.replace(/^service\./, "")),
  };
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && new Set([...a, ...b]).size === new Set(b).size;
}

function missing(name: string): string {
  return isFolderName(name)
    ? `there is no package in ${name}`
    : `the package is not installed; install what the project names, or millrace ext remove ${name}`;
}
