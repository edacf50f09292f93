/**
 * An incomplete download: `<key>.part`, and its state in `<key>.json`.
 *   D1  The state file never claims bytes that the disk does not have: it is written after they are synced.
 *   D2  At most one write and one sync are pending; adding bytes waits for the previous write.
 *   D3  Each full 16 MiB are synced, however slow the sync before them was and whether or not more bytes follow.
 */
import { createHash } from "node:crypto";
import { type FileHandle, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type ModelError, toModelError } from "../errors.ts";
import { FILE_MODE } from "../folders.ts";
import { writeWhole } from "../write-whole.ts";

const WRITE_BYTES = 1_048_576; // chunks of the network are 64 KiB, each write costs a thread
const SYNC_BYTES = 16_777_216; // lost by a crash at most
const SPARE_BYTES = 65_536; // more than the state file needs on any file system

export interface PartState {
  /** The model it becomes. */
  readonly id: string;
  /** Without user info and query. */
  readonly url: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** On disk for sure. */
  readonly bytes: number;
  /** Of the whole file; 0: unknown. */
  readonly total: number;
  /** Expected digest of the complete file. */
  readonly sha256: string | null;
}

/** Facts of the file from the server's answer. */
export type Validators = Pick<PartState, "etag" | "lastModified" | "total">;

/** Name of the files of a download: the same URL and digest find it again. */
export function partKey(url: string, sha256: string | null): string {
  return createHash("sha256")
    .update(`${url}\n${sha256 ?? ""}`)
    .digest("hex")
    .slice(0, 32);
}

/** The state of a part; null when there is none that can be used. */
export async function readPartState(path: string): Promise<PartState | null> {
  try {
    const state = JSON.parse(await readFile(path, "utf8")) as PartState;
    const isWhole = typeof state.id === "string" && typeof state.url === "string";
    return isWhole && Number.isSafeInteger(state.bytes) && state.bytes >= 0 ? state : null;
  } catch {
    return null;
  }
}

export class PartFile {
  readonly path: string;
  readonly #statePath: string;
  readonly #file: FileHandle;
  #state: PartState;
  /** Given, waiting to be written. */
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #written: number;
  /** Of them, those that the file system took. */
  #onDisk: number;
  #writing: Promise<void> = Promise.resolve();
  #syncing: Promise<void> | null = null;
  #failure: ModelError | undefined;

  private constructor(paths: { part: string; state: string }, file: FileHandle, state: PartState) {
    this.path = paths.part;
    this.#statePath = paths.state;
    this.#file = file;
    this.#state = state;
    this.#written = state.bytes;
    this.#onDisk = state.bytes;
  }

  /** Opens the part of `key` in a folder, or begins it. Bytes that the state does not vouch for are cut off. */
  static async open(
    folder: string,
    key: string,
    fresh: Pick<PartState, "id" | "url" | "sha256">,
  ): Promise<PartFile> {
    const paths = { part: join(folder, `${key}.part`), state: join(folder, `${key}.json`) };
    const found = await readPartState(paths.state);
    const file = await open(paths.part, "r+", FILE_MODE).catch(() =>
      open(paths.part, "w+", FILE_MODE),
    );
    try {
      const { size } = await file.stat();
      const usable = found !== null && found.bytes <= size ? found : null;
      const empty = { etag: null, lastModified: null, bytes: 0, total: 0 };
      await file.truncate(usable?.bytes ?? 0);
      return new PartFile(paths, file, { ...(usable ?? empty), ...fresh });
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Bytes that were given, from the start. */
  get bytes(): number {
    return this.#written + this.#pendingBytes;
  }

  get validators(): Validators {
    return this.#state;
  }

  describe(validators: Validators): void {
    this.#state = { ...this.#state, ...validators };
  }

  /** Adds bytes at the end; resolves when there is room for more. */
  async write(chunk: Uint8Array): Promise<void> {
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.length;
    if (this.#pendingBytes < WRITE_BYTES) return;
    await this.#writing;
    this.#check();
    this.#flush();
    this.#syncWhenDue();
  }

  /** Everything is on disk, and the state says so. */
  async settle(): Promise<void> {
    await this.#writing;
    this.#flush();
    await this.#writing;
    while (this.#syncing !== null) await this.#syncing;
    this.#check();
    await this.#sync();
    this.#check();
  }

  async restart(): Promise<void> {
    this.#pending = [];
    this.#pendingBytes = 0;
    await this.#writing;
    while (this.#syncing !== null) await this.#syncing;
    this.#check();
    await this.#file.truncate(0);
    this.#written = 0;
    this.#onDisk = 0;
    this.#state = { ...this.#state, etag: null, lastModified: null, bytes: 0, total: 0 };
    await this.#vouch(0);
  }

  /** Closes the part and keeps it; an empty one is removed. */
  async keep(): Promise<void> {
    await this.settle().catch(() => this.#salvage().catch(() => undefined));
    if (this.#state.bytes === 0) return this.remove();
    await this.close();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async remove(): Promise<void> {
    await this.close();
    await rm(this.path, { force: true });
    await this.forget();
  }

  /** Deletes the state alone: the part has become a model. */
  async forget(): Promise<void> {
    await rm(this.#statePath, { force: true });
  }

  #flush(): void {
    if (this.#pendingBytes === 0) return;
    const chunks = this.#pending;
    this.#written += this.#pendingBytes;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#writing = this.#writeAll(chunks).catch((error: unknown) => {
      this.#failure ??= toModelError(error);
    });
  }

  async #writeAll(chunks: readonly Uint8Array[]): Promise<void> {
    if (this.#failure !== undefined) return; // what follows a gap is worth nothing
    let rest: Uint8Array = Buffer.concat(chunks);
    while (rest.length > 0) {
      const { bytesWritten } = await this.#file.write(rest, 0, rest.length, this.#onDisk);
      rest = rest.subarray(bytesWritten);
      this.#onDisk += bytesWritten;
    }
  }

  #syncWhenDue(): void {
    const due = Math.floor(this.#written / SYNC_BYTES) > Math.floor(this.#state.bytes / SYNC_BYTES);
    if (!due || this.#syncing !== null || this.#failure !== undefined) return;
    this.#syncing = this.#sync().then(() => {
      this.#syncing = null;
      this.#syncWhenDue();
    });
  }

  async #sync(): Promise<void> {
    try {
      const bytes = this.#written;
      await this.#writing;
      if (this.#failure !== undefined) return;
      await this.#file.datasync();
      await this.#vouch(bytes);
    } catch (error) {
      this.#failure ??= toModelError(error);
    }
  }

  /** Keeps what was written before the disk was full: the last bytes make room for the state. */
  async #salvage(): Promise<void> {
    const bytes = Math.max(this.#state.bytes, this.#onDisk - SPARE_BYTES);
    await this.#file.truncate(bytes);
    await this.#file.datasync();
    await this.#vouch(bytes);
  }

  async #vouch(bytes: number): Promise<void> {
    await writeWhole(this.#statePath, JSON.stringify({ ...this.#state, bytes }));
    this.#state = { ...this.#state, bytes };
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}
