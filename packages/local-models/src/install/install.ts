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
import type { Engines } from "../engine/engines.ts";
import { ModelError, toModelError } from "../errors.ts";
import { FILE_MODE, FOLDER_MODE, isUnchanged, stampOf } from "../folders.ts";
import { inspectGguf } from "../gguf/inspect.ts";
import type { JobContext } from "../jobs.ts";
import { defaultsOf } from "../library/entry.ts";
import { pathOfId } from "../library/ids.ts";
import type { Library } from "../library/library.ts";
import type { HubModel, ModelClock } from "../settings.ts";
import { syncFolder } from "../write-whole.ts";
import { download } from "./download.ts";
import { PartFile, partKey } from "./part-file.ts";
import { type InstallRequest, publicUrl } from "./request.ts";

const COPY_BYTES = 1_048_576;
const SPARE_BYTES = 536_870_912; // what a system needs beside the models

export interface InstallPorts {
  /** Folder of managed files. */
  readonly files: string;
  readonly downloads: string;
  readonly maxBytes: number;
  readonly fetch: FetchLike;
  readonly clock: ModelClock;
  readonly freeBytes: (dir: string) => Promise<number>;
  readonly credentials?: Pick<CredentialsPort, "secret"> | undefined;
  readonly hubModel?: ((hub: string, item: string) => Promise<HubModel | undefined>) | undefined;
  readonly engines: Engines;
  readonly library: Library;
  /** Called after a model was added to the library. */
  readonly added: (id: string) => Promise<void>;
}

/** Expected facts of a file; null: whatever comes. */
interface Wanted {
  readonly sha256: string | null;
  readonly bytes: number | null;
}

/** Rejects with `ModelError`, or with the reason of the job's signal. */
export function install(
  request: InstallRequest,
  ports: InstallPorts,
  job: JobContext,
): Promise<void> {
  return new Install(request, ports, job).run();
}

class Install {
  readonly #request: InstallRequest;
  readonly #ports: InstallPorts;
  readonly #job: JobContext;

  constructor(request: InstallRequest, ports: InstallPorts, job: JobContext) {
    this.#request = request;
    this.#ports = ports;
    this.#job = job;
  }

  async run(): Promise<void> {
    const { origin, sha256 } = this.#request;
    const { progress, signal } = this.#job;
    progress.stage("resolve", 0, 0);
    const found = origin.kind === "hub" ? await this.#hubModel(origin) : undefined;
    signal.throwIfAborted();
    const wanted = { sha256: found?.sha256 ?? sha256, bytes: found?.bytes ?? null };
    const source = found?.source ?? (origin as Exclude<typeof origin, { kind: "hub" }>);
    if ("url" in source) await this.#fetch(source.url, wanted);
    else await this.#copy(source.file, wanted);
  }

  async #hubModel({
    hub,
    item,
  }: {
    readonly hub: string;
    readonly item: string;
  }): Promise<HubModel> {
    const { sha256 } = this.#request;
    const found = await this.#ports.hubModel?.(hub, item);
    const name = `hub:${hub}/${item}`;
    if (found === undefined) {
      throw new ModelError(
        "download_not_found",
        `there is no model ${name}; sync_hub reads its index`,
      );
    }
    if (sha256 !== null && sha256 !== found.sha256) {
      throw new ModelError(
        "digest_mismatch",
        `the index of the hub has another digest for ${name}`,
      );
    }
    return found;
  }

  async #fetch(url: string, wanted: Wanted): Promise<void> {
    const { sha256, bytes } = wanted;
    const { downloads, fetch, clock, maxBytes } = this.#ports;
    const { progress, signal } = this.#job;
    const bearer = await this.#bearer();
    const part = await PartFile.open(downloads, partKey(url, sha256), {
      id: this.#request.id,
      url: publicUrl(new URL(url)),
      sha256,
    });
    try {
      await download(part, {
        ...{ url, bearer, bytes, maxBytes, fetch, clock, progress, signal },
        makeSure: (rest) => this.#makeSure(rest),
        resolved: () => this.#fetchEngine(),
      });
    } catch (error) {
      await part.keep();
      throw error;
    }
    try {
      await this.#complete(part.path, wanted);
      await part.close();
      await part.forget();
    } catch (error) {
      const { code } = toModelError(error);
      if (code === "digest_mismatch" || code === "invalid_model") await part.remove();
      else await part.keep();
      throw error;
    }
  }

  /** A file of this machine: the same bytes under a second name where the file system can, else a copy. */
  async #copy(file: string, wanted: Wanted): Promise<void> {
    const { downloads, maxBytes } = this.#ports;
    const { progress, signal } = this.#job;
    const source = await realpath(file).catch(missing);
    const found = await stat(source).catch(missing);
    if (!found.isFile()) throw new ModelError("download_failed", "the source is not a file");
    if (found.size > maxBytes) {
      throw new ModelError("download_failed", "the file is larger than models.maxBytes");
    }
    const path = join(downloads, `${partKey(file, wanted.sha256)}.part`);
    await this.#fetchEngine();
    progress.stage("download", 0, found.size);
    try {
      await rm(path, { force: true });
      const isLinked = await link(source, path).then(
        () => true,
        () => false, // another file system, or one without links
      );
      if (!isLinked) {
        await this.#makeSure(found.size);
        let bytes = 0;
        const reading = createReadStream(source, { highWaterMark: COPY_BYTES });
        reading.on("data", (chunk) => {
          bytes += chunk.length;
          progress.advance(bytes);
        });
        const writing = createWriteStream(path, { flags: "wx", mode: FILE_MODE, flush: true });
        await pipeline(reading, writing, { signal });
      }
      progress.advance(found.size);
      await this.#complete(path, wanted);
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Fetches the engine where it is asked for and none is; false: nothing was done. */
  async #fetchEngine(): Promise<boolean> {
    const { engines } = this.#ports;
    const { progress, signal } = this.#job;
    if (!this.#request.fetchEngine || engines.has()) return false;
    await engines.fetch({
      signal,
      told: (stage, current, total) => {
        if (stage === "download") progress.step("engine", current, total);
      },
    });
    return true;
  }

  async #bearer(): Promise<string | null> {
    const { credential } = this.#request;
    if (credential === null) return null;
    const secret = await this.#ports.credentials?.secret(credential);
    if (secret !== undefined) return secret;
    throw new ModelError("download_denied", `the credential ${credential} is not in the store`);
  }

  async #makeSure(rest: number): Promise<void> {
    const { freeBytes, downloads } = this.#ports;
    const lack = rest + SPARE_BYTES - (await freeBytes(downloads));
    if (lack <= 0) return;
    const mib = Math.ceil(lack / 1_048_576);
    throw new ModelError(
      "disk_full",
      `the disk needs ${mib} MiB more: the rest of the file and 512 MiB to spare`,
    );
  }

  /** Checks what arrived and gives it its name. */
  async #complete(path: string, wanted: Wanted): Promise<void> {
    const { files, library, added } = this.#ports;
    const { id, source } = this.#request;
    const { progress, signal } = this.#job;
    const arrived = await stampOf(path);
    if (arrived === null) throw new ModelError("download_failed", "the file is gone");
    progress.stage("verify", 0, arrived.bytes);
    const sha256 = await hashFile(path, this.#job);
    if (wanted.sha256 !== null && sha256 !== wanted.sha256) {
      throw new ModelError("digest_mismatch", "the file does not have the expected SHA-256");
    }
    const { facts: gguf, reason } = await inspectGguf(path);
    if (gguf === undefined) {
      throw new ModelError("invalid_model", `the file is not a whole model: ${reason}`);
    }
    signal.throwIfAborted();
    if (!(await isUnchanged([arrived]))) {
      throw new ModelError("download_failed", "the file changed while it was read");
    }
    progress.stage("register", 0, 1);
    const target = join(files, pathOfId(id));
    await library.exclusively(async () => {
      if (library.get(id) !== undefined || library.owns(target)) throw existsAlready(id);
      await moveTo(target, path);
      library.add({
        id,
        folder: files,
        origin: "managed",
        files: [{ ...arrived, path: target }],
        sha256,
        verified: wanted.sha256 !== null,
        source,
        gguf,
        defaults: defaultsOf(gguf),
        lastUsedAt: null,
      });
    });
    await added(id);
    progress.advance(1);
  }
}

export function existsAlready(id: string): ModelError {
  return new ModelError(
    "already_exists",
    `there is a model "${id}"; remove it, or give another id`,
  );
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

/** Gives a file its lasting name; the folder is made, and whatever lay there is replaced. */
async function moveTo(target: string, path: string): Promise<void> {
  const folder = dirname(target);
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  await rename(path, target);
  await syncFolder(folder);
}

const PIECE = 1_048_576; // below a millisecond of hashing: the event loop gets its turn

/** Hex digest of a file. `progress` gets the bytes that were hashed. Rejects with the reason of `signal`. */
async function hashFile(path: string, { signal, progress }: JobContext): Promise<string> {
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
      progress.advance(bytes);
    }
  } finally {
    await file.close();
  }
}
