/** `millrace ext add`, `trust` and `remove`: what an extension may do is decided here, by a person, and nowhere else. */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Permissions } from "@millrace/contracts";
import {
  type ExtensionSource,
  type InspectedExtension,
  inspectExtension,
  type LockedExtension,
  missingGrants,
  PACKAGE_NAME,
  ProblemFound,
  problemOfHosts,
  readExtensions,
  writeLock,
} from "@millrace/extensions";
import { type Answer, type CommandIo, flagList, type Input, isOn } from "../../argv/spec.ts";
import { askYes } from "../../ask.ts";
import { configOptions } from "../../config/files.ts";
import { describedIds, readSources } from "../../config/sources.ts";
import { reason, usage } from "../../errors.ts";
import { clean } from "../../output/text.ts";
import { takenIds } from "../../run/extensions.ts";
import { install, integrityOf, uninstall } from "./package-manager.ts";
import {
  type ExtensionProject,
  findProject,
  type Offer,
  offerLines,
  writeList,
} from "./project.ts";

/** Installs a package without running it, shows what it wants, asks, and writes both files. */
export async function add(input: Input, io: CommandIo): Promise<Answer> {
  const spec = input.args[0] as string;
  const project = await findProject(input, io);
  const wanted = await readSpec(spec, project, io);
  const { name, source } = wanted;
  const { choice, lock, dependencies } = project;
  const isNew = ![...choice.list, ...lock.keys(), ...dependencies].includes(name);
  // Once it is added it stands among the dependencies in any case.
  const known = lock.get(name);
  const isDependency =
    known === undefined ? dependencies.includes(name) : known.dependency === true;
  if (wanted.install !== undefined) await install(project.folder, wanted.install, io);
  try {
    const inspected = await inspect(project.folder, name);
    if (source !== "path" && inspected.manifest.name !== name) {
      throw usage(clean(`the package in the place of ${name} is ${inspected.manifest.name}`));
    }
    const mode: Offer["mode"] = isOn(input, "in-process") ? "inProcess" : "child";
    if (mode === "child" && inspected.manifest.mode === "inProcess") {
      throw usage(
        `${clean(name)} cannot live in a process of its own`,
        "give --in-process if you trust its code with everything that millrace can do",
      );
    }
    const integrity =
      wanted.integrity ?? (await integrityOf(project.folder, name, inspected.manifest.version));
    const offer = { inspected, source, integrity, mode };
    return await grant(offer, { name, input, project, isDependency, hosts: hostsIn(input) }, io);
  } catch (error) {
    if (wanted.install !== undefined && isNew) await uninstall(project.folder, name, io);
    throw error;
  }
}

/** Looks at an installed extension again and grants what it is and wants now. */
export async function trust(input: Input, io: CommandIo): Promise<Answer> {
  const project = await findProject(input, io);
  const name = listed(input.args[0] as string, project);
  const locked = project.lock.get(name);
  if (locked === undefined)
    throw usage(`${clean(name)} was granted nothing yet`, `millrace ext add ${clean(name)}`);
  const inspected = await inspect(project.folder, name);
  const { source, mode } = locked;
  const hosts = [...new Set([...(locked.hosts ?? []), ...hostsIn(input)])];
  const { version } = inspected.manifest;
  const integrity = source === "npm" ? await integrityOf(project.folder, name, version) : "";
  if (io.json === undefined) {
    for (const line of changesOf(locked, inspected)) await io.err.write(`${clean(line)}\n`);
  }
  const isDependency = locked.dependency === true;
  const offer = { inspected, source, integrity, mode };
  return grant(offer, { name, input, project, isDependency, hosts }, io);
}

/** Takes an extension out of both files, and its package away unless the project had it before. */
export async function remove(input: Input, io: CommandIo): Promise<Answer> {
  const project = await findProject(input, io);
  const name = listed(input.args[0] as string, project);
  const lock = new Map(project.lock);
  const locked = lock.get(name);
  lock.delete(name);
  await writeList(project, { remove: name });
  if (locked !== undefined) await writeLock(project.folder, lock);
  if (locked !== undefined && locked.source !== "path" && locked.dependency !== true) {
    await uninstall(project.folder, name, io);
  }
  return { value: { removed: name }, said: [`${clean(name)} is removed`], mayBeQuiet: false };
}

interface Wanted {
  readonly name: string;
  readonly source: ExtensionSource;
  /** Argument for the package manager; absent: nothing is installed. */
  readonly install?: string;
  readonly integrity?: string;
}

/** A folder, a tarball, or a package of the registry. */
async function readSpec(
  spec: string,
  { folder }: ExtensionProject,
  io: CommandIo,
): Promise<Wanted> {
  const path = resolve(io.cwd, spec);
  const info = await stat(path).catch(() => undefined);
  if (info?.isDirectory() === true) {
    const below = relative(folder, path).split(sep).join("/");
    if (below === "") throw usage("a project is no extension of itself");
    return { name: below.startsWith("..") ? below : `./${below}`, source: "path" };
  }
  if (/\.(?:tgz|tar\.gz)$/.test(spec)) {
    return { ...(await readTarball(path)), source: "tarball", install: path };
  }
  const name = REGISTRY.exec(spec)?.[1];
  if (name === undefined || !PACKAGE_NAME.test(name)) {
    throw usage(`"${clean(spec)}" is no folder, no tarball and no name of a package`);
  }
  return { name, source: "npm", install: spec };
}

/**
 * `name`, `name@1.2`, `name@latest`. Whatever else package managers take (a repository, a URL, another name) is no package of
 * the registry, and the lock would say that it is.
 */
const REGISTRY = /^((?:@[^@/\s]+\/)?[^@/\s]+)(?:@[\w.^~<>=*+-]+)?$/;

/** Hosts that the operator's configuration leads to, which no author of a package can know. */
function hostsIn(input: Input): readonly string[] {
  const hosts = [...new Set(flagList(input, "net"))];
  const problem = problemOfHosts(hosts);
  if (problem === undefined) return hosts;
  throw usage(`--net ${problem}`);
}

/** The name in the list that a person means, with or without `./`. */
function listed(word: string, { choice, lock }: ExtensionProject): string {
  const known = [...choice.list, ...lock.keys()];
  const found = [word, `./${word}`, word.replace(/\/$/, "")].find((name) => known.includes(name));
  if (found !== undefined) return found;
  throw usage(`the project has no extension ${clean(word)}`, "millrace ext list names them");
}

async function inspect(project: string, name: string): Promise<InspectedExtension> {
  try {
    return await inspectExtension(project, name);
  } catch (error) {
    if (!(error instanceof ProblemFound)) throw error;
    throw usage(clean(`${name}: ${error.message} (${error.problem.code})`));
  }
}

async function grant(
  offer: Offer & { readonly source: ExtensionSource },
  about: {
    readonly name: string;
    readonly input: Input;
    readonly project: ExtensionProject;
    readonly isDependency: boolean;
    readonly hosts: readonly string[];
  },
  io: CommandIo,
): Promise<Answer> {
  const { name, input, project, isDependency, hosts } = about;
  const { inspected, source, integrity, mode } = offer;
  const { manifest, manifestDigest, treeDigest } = inspected;
  if (io.json === undefined) await io.err.write(`${offerLines(offer, hosts).join("\n")}\n`);
  if (!isOn(input, "yes")) {
    if (!io.interactive) {
      throw usage("nobody can be asked here whether this is granted", "read it, then give --yes");
    }
    if (!(await askYes(io, `Grant this to ${clean(manifest.name)}?`))) {
      throw usage("nothing was granted");
    }
  }
  const granted = withHosts(manifest.permissions, hosts);
  const locked: LockedExtension = {
    version: manifest.version,
    integrity,
    manifestDigest,
    treeDigest,
    source,
    mode,
    granted,
    ...(hosts.length > 0 && { hosts }),
    ...(isDependency && source !== "path" && { dependency: true }),
  };
  await writeLock(project.folder, new Map([...project.lock, [name, locked]]));
  await refuseUnusable(name, project, input, io);
  await writeList(project, { add: name });
  return {
    value: { name, version: manifest.version, source, mode, granted },
    said: [`${clean(name)} is granted; the project has changed: run millrace config trust`],
  };
}

/** Permissions that a package asks for, and the hosts that a person names beside them. */
function withHosts(asked: Permissions, hosts: readonly string[]): Permissions {
  if (hosts.length === 0) return asked;
  return { ...asked, net: [...new Set([...(asked.net ?? []), ...hosts])] };
}

/** An extension that cannot be used beside the others is not added. */
async function refuseUnusable(
  name: string,
  project: ExtensionProject,
  input: Input,
  io: CommandIo,
): Promise<void> {
  const list = [...project.choice.list.filter((each) => each !== name), name];
  const taken = takenIds(await describedIds(await readSources(configOptions(input, io), io)));
  const all = await readExtensions({ project: project.folder, list, taken });
  const problem = all.find((each) => each.name === name)?.problem;
  if (problem === undefined) return;
  await writeLock(project.folder, project.lock);
  throw usage(clean(`${name}: ${problem.message} (${problem.code})`));
}

/** Differences from the last grant. */
function changesOf(
  locked: LockedExtension,
  { manifest, treeDigest }: InspectedExtension,
): string[] {
  const added = missingGrants(manifest.permissions, locked.granted);
  const gone = missingGrants(locked.granted, withHosts(manifest.permissions, locked.hosts ?? []));
  return [
    ...(locked.version === manifest.version
      ? []
      : [`version ${locked.version} is now ${manifest.version}`]),
    ...(locked.treeDigest === treeDigest
      ? ["its files are what they were"]
      : ["its files have changed"]),
    ...added.map((line) => `+ ${line}`),
    ...gone.map((line) => `- ${line}`),
  ];
}

const MAX_BYTES = 256 * 1_048_576; // unpacked; a package of more is none that anybody reviews
const BLOCK = 512;

/** Reads a `.tgz`. Throws a usage error for what is no package. */
async function readTarball(
  path: string,
): Promise<{ readonly name: string; readonly integrity: string }> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw usage(`cannot read ${path}: ${reason(error)}`);
  });
  let tar: Buffer;
  try {
    tar = gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
  } catch {
    throw usage(`${path} is no tarball of a package`);
  }
  const name = nameIn(tar);
  if (name === undefined || !PACKAGE_NAME.test(name)) {
    throw usage(`${path} holds no package.json with a name`);
  }
  return { name, integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}` };
}

/** The name in `<folder>/package.json`. @see POSIX pax, "ustar Interchange Format" */
function nameIn(tar: Buffer): string | undefined {
  for (let at = 0; at + BLOCK <= tar.length; ) {
    const path = text(tar, at, 100);
    const size = Number.parseInt(text(tar, at + 124, 12).trim(), 8);
    if (path === "" || !Number.isSafeInteger(size)) return undefined;
    const body = tar.subarray(at + BLOCK, at + BLOCK + size);
    if (/^[^/]+\/package\.json$/.test(path)) {
      try {
        const { name } = JSON.parse(body.toString("utf8")) as { readonly name?: unknown };
        return typeof name === "string" ? name : undefined;
      } catch {
        return undefined;
      }
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return undefined;
}

function text(bytes: Buffer, at: number, length: number): string {
  return bytes.toString("latin1", at, at + length).replace(/\0.*$/s, "");
}
