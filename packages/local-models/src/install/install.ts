/**
 * Installs one model: resolve, (engine), download, verify, register.
 *   V1  A file gets the name of a model only when its digest and its header have been checked.
 *   V2  The registered file is the checked one: a file that changes meanwhile or later is refused.
 *   V3  A part whose content is wrong is removed; one that is only unfinished is kept.
 */

import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { link, mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { CredentialsPort, FetchLike } from "@millrace/contracts";
import { ModelError, toModelError } from "../errors.ts";
import { FILE_MODE, type FileStamp, FOLDER_MODE, isUnchanged, stampOf } from "../folders.ts";
import { inspectGguf } from "../gguf/inspect.ts";
import type { JobContext } from "../jobs.ts";
import { defaultsOf, type Entry } from "../library/entry.ts";
import { pathOfId } from "../library/ids.ts";
import type { GgufFacts } from "../runners.ts";
import type { HubModel, ModelClock } from "../settings.ts";
import { syncFolder } from "../write-whole.ts";
import { download } from "./download.ts";
import { PartFile, partKey } from "./part-file.ts";
import type { Progress } from "./progress.ts";
import { type InstallRequest, publicUrl } from "./request.ts";

const COPY_BYTES = 1_048_576;
const SPARE_BYTES = 536_870_912; // what a system needs beside the models

/** Parts of the manager that an install uses. */
export interface InstallPorts {
  /** Folder of managed files. */
  readonly files: string;
  readonly downloads: string;
  readonly maxBytes: number;
  readonly fetch: FetchLike;
  readonly clock: ModelClock;
  readonly freeBytes: (dir: string) => Promise<number>;
  readonly credentials?: Pick<CredentialsPort, "secret">;
  readonly hubModel?: (hub: string, item: string) => Promise<HubModel | undefined>;
  /** Fetches the engine where none is; false: there is one. */
  readonly engine: (signal: AbortSignal, progress: Progress) => Promise<boolean>;
  /** Moves a checked file to its place, and makes it known. */
  readonly register: (
    entry: Omit<Entry, "files">,
    part: FileStamp,
    target: string,
  ) => Promise<void>;
}

/** The source of a file and its expected facts. */
interface Wanted {
  readonly from: { readonly url: string } | { readonly file: string };
  readonly sha256: string | null;
  readonly bytes: number | null;
}

/** Rejects with `ModelError`, or with the reason of the job's signal. */
export async function install(
  request: InstallRequest,
  ports: InstallPorts,
  context: JobContext,
): Promise<void> {
  context.progress.stage("resolve", 0, 0);
  const wanted = await resolve(request, ports);
  context.signal.throwIfAborted();
  const { from } = wanted;
  if ("file" in from) await copied(request, { ...wanted, ...from }, { ports, context });
  else await fetched(request, { ...wanted, ...from }, { ports, context });
}

interface Surroundings {
  readonly ports: InstallPorts;
  readonly context: JobContext;
}

async function resolve({ origin, sha256 }: InstallRequest, ports: InstallPorts): Promise<Wanted> {
  if (origin.kind === "url") return { from: { url: origin.url }, sha256, bytes: null };
  if (origin.kind === "file") return { from: { file: origin.path }, sha256, bytes: null };
  const found = await ports.hubModel?.(origin.hub, origin.item);
  const name = `hub:${origin.hub}/${origin.item}`;
  if (found === undefined) {
    throw new ModelError(
      "download_not_found",
      `there is no model ${name}; sync_hub reads its index`,
    );
  }
  if (sha256 !== null && sha256 !== found.sha256) {
    throw new ModelError("digest_mismatch", `the index of the hub has another digest for ${name}`);
  }
  return { from: found.source, sha256: found.sha256, bytes: found.bytes };
}

async function fetched(
  request: InstallRequest,
  wanted: Wanted & { readonly url: string },
  { ports, context }: Surroundings,
): Promise<void> {
  const { url } = wanted;
  const key = partKey(url, wanted.sha256);
  const bearer = await bearerOf(request, ports);
  const part = await PartFile.open(ports.downloads, key, {
    id: request.id,
    url: publicUrl(new URL(url)),
    sha256: wanted.sha256,
  });
  try {
    await download(part, {
      ...ports,
      ...context,
      url,
      bearer,
      bytes: wanted.bytes,
      makeSure: (rest) => makeSure(ports, rest),
      resolved: async () =>
        request.fetchEngine && (await ports.engine(context.signal, context.progress)),
    });
  } catch (error) {
    await part.keep();
    throw error;
  }
  try {
    await complete(request, wanted, { path: part.path, ports, context });
    await part.close();
    await part.forget();
  } catch (error) {
    if (isWrong(error)) await part.remove();
    else await part.keep();
    throw error;
  }
}

/** A file of this machine: the same bytes under a second name where the file system can, else a copy. */
async function copied(
  request: InstallRequest,
  wanted: Wanted & { readonly file: string },
  { ports, context }: Surroundings,
): Promise<void> {
  const { file } = wanted;
  const source = await realpath(file).catch(missing);
  const { size, isFile } = await stat(source).then(
    (found) => ({ size: found.size, isFile: found.isFile() }),
    missing,
  );
  if (!isFile) throw new ModelError("download_failed", "the source is not a file");
  if (size > ports.maxBytes) {
    throw new ModelError("download_failed", "the file is larger than models.maxBytes");
  }
  const path = join(ports.downloads, `${partKey(file, wanted.sha256)}.part`);
  if (request.fetchEngine) await ports.engine(context.signal, context.progress);
  context.progress.stage("download", 0, size);
  try {
    await rm(path, { force: true });
    if (!(await linked(source, path))) {
      await makeSure(ports, size);
      await copy(source, path, context);
    }
    context.progress.advance(size);
    await complete(request, wanted, { path, ports, context });
  } finally {
    await rm(path, { force: true });
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  return link(from, to).then(
    () => true,
    () => false, // another file system, or one without links
  );
}

async function copy(from: string, to: string, { signal, progress }: JobContext): Promise<void> {
  let bytes = 0;
  const reading = createReadStream(from, { highWaterMark: COPY_BYTES });
  reading.on("data", (chunk) => {
    bytes += chunk.length;
    progress.advance(bytes);
  });
  await pipeline(reading, createWriteStream(to, { flags: "wx", mode: FILE_MODE, flush: true }), {
    signal,
  });
}

/** Why a file of this machine cannot be read; its path is not repeated. */
function missing(error: NodeJS.ErrnoException): never {
  const isThere = error.code !== "ENOENT" && error.code !== "ENOTDIR";
  throw new ModelError(
    isThere ? "download_denied" : "download_not_found",
    `the file cannot be read (${error.code ?? "unknown"})`,
    { cause: error },
  );
}

async function bearerOf(
  { credential }: InstallRequest,
  { credentials }: InstallPorts,
): Promise<string | null> {
  if (credential === null) return null;
  const secret = await credentials?.secret(credential);
  if (secret !== undefined) return secret;
  throw new ModelError("download_denied", `the credential ${credential} is not in the store`);
}

async function makeSure(
  { freeBytes, downloads }: Pick<InstallPorts, "freeBytes" | "downloads">,
  rest: number,
): Promise<void> {
  const free = await freeBytes(downloads);
  if (free >= rest + SPARE_BYTES) return;
  const missing = Math.ceil((rest + SPARE_BYTES - free) / 1_048_576);
  throw new ModelError(
    "disk_full",
    `the disk needs ${missing} MiB more: the rest of the file and 512 MiB to spare`,
  );
}

/** Checks what arrived and gives it its name. */
async function complete(
  request: InstallRequest,
  wanted: Wanted,
  { path, ports, context }: Surroundings & { readonly path: string },
): Promise<void> {
  const { progress, signal } = context;
  const arrived = await stampOf(path);
  if (arrived === null) throw new ModelError("download_failed", "the file is gone");
  progress.stage("verify", 0, arrived.bytes);
  const told = (bytes: number): void => progress.advance(bytes);
  const sha256 = await hashFile(path, { signal, told });
  if (wanted.sha256 !== null && sha256 !== wanted.sha256) {
    throw new ModelError("digest_mismatch", "the file does not have the expected SHA-256");
  }
  const gguf = await checked(path);
  signal.throwIfAborted();
  if (!(await isUnchanged([arrived]))) {
    throw new ModelError("download_failed", "the file changed while it was read");
  }
  progress.stage("register", 0, 1);
  const target = join(ports.files, pathOfId(request.id));
  await ports.register(
    {
      id: request.id,
      folder: ports.files,
      origin: "managed",
      sha256,
      verified: wanted.sha256 !== null,
      source: request.source,
      gguf,
      defaults: defaultsOf(gguf),
      lastUsedAt: null,
    },
    arrived,
    target,
  );
  progress.advance(1);
}

async function checked(path: string): Promise<GgufFacts> {
  const seen = await inspectGguf(path);
  if (seen.reason === undefined) return seen.facts;
  throw new ModelError("invalid_model", `the file is not a whole model: ${seen.reason}`);
}

function isWrong(error: unknown): boolean {
  const { code } = toModelError(error);
  return code === "digest_mismatch" || code === "invalid_model";
}

/** Gives a file its lasting name; the folder is made, and whatever lay there is replaced. */
export async function moveIn(part: FileStamp, target: string): Promise<Entry["files"]> {
  const folder = dirname(target);
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  await rename(part.path, target);
  await syncFolder(folder);
  return [{ ...part, path: target }];
}

const PIECE = 1_048_576; // below a millisecond of hashing: the event loop gets its turn

/** Hex digest of a file. `told` gets the bytes that were hashed. Rejects with the reason of `signal`. */
async function hashFile(
  path: string,
  { signal, told }: { readonly signal: AbortSignal; readonly told: (bytes: number) => void },
): Promise<string> {
  const hash = createHash("sha256");
  const file = await open(path, "r");
  try {
    const buffers = [Buffer.allocUnsafe(PIECE), Buffer.allocUnsafe(PIECE)] as const;
    const read = (turn: number): Promise<{ bytesRead: number }> =>
      file.read(buffers[turn % 2] as Buffer, 0, PIECE);
    let next = read(0);
    for (let turn = 0, bytes = 0; ; turn++) {
      const { bytesRead } = await next;
      if (bytesRead === 0) return hash.digest("hex");
      signal.throwIfAborted();
      next = read(turn + 1);
      hash.update((buffers[turn % 2] as Buffer).subarray(0, bytesRead));
      bytes += bytesRead;
      told(bytes);
    }
  } finally {
    await file.close();
  }
}
