/** The writer as the main thread sees it: it sends units, and each is answered after its COMMIT. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { StoreError } from "../errors.ts";
import type { Condition, OpResult, WriteOptions } from "../sql/port.ts";
import { refusal } from "../sql/refusal.ts";
import { toStoreError } from "../sqlite/reader.ts";
import type { SqliteDb } from "../sqlite/sqlite-port.ts";
import { bytesOfLines, createPacker } from "./packed-units.ts";
import type { Posted, UnitOp } from "./unit.ts";
import { createUnits, createUnpacker, type UnitAnswer } from "./units.js";

const MAX_WAITING_BYTES = 67_108_864; // of a full disk: more would only fill the memory as well
const SENT_AT_ONCE = 32; // units that are sent before the end of a turn: the thread writes them while this one makes the others
const ROW_BYTES = 64; // estimated cost of a row besides its lines

interface Message {
  readonly ready?: true;
  readonly done?: readonly (number | UnitAnswer)[];
  readonly condition?: Condition;
  readonly changed?: true;
}
interface Waiting {
  readonly bytes: number;
  readonly resolve: (results: readonly OpResult[]) => void;
  readonly reject: (error: Error) => void;
}

export class Writer {
  readonly #worker: Worker;
  /** By their ids, which are given again after the answer: a `Map` that is as busy is replaced again and again. */
  readonly #waiting: (Waiting | undefined)[] = [];
  readonly #freeIds: number[] = [];
  readonly #exited: Promise<void>;
  readonly #watchers = new Set<(isFull: boolean) => void>();
  readonly #listeners = new Set<() => void>();
  readonly #pack = createPacker();
  readonly #busyText: () => string;
  /** Units that are sent after the present work, or in parts when they are many: runs that continue together share a message, and so a COMMIT. */
  #outgoing: Posted[] = [];
  /** Parts were sent: the COMMIT waits for the end of the turn. */
  #isTurnOpen = false;
  #sentAt = 0;
  #waitingBytes = 0;
  #condition: Condition = "ok";
  /** Resolves when nothing is written any more without `close`. */
  readonly lost: Promise<Condition>;
  /** Resolves when the thread has opened the file. Rejects with `store_unavailable` when it cannot. */
  readonly ready: Promise<void>;
  /** The error that ended the thread. */
  #fault: unknown;
  #tellLost!: (condition: Condition) => void;
  #closed: Promise<void> | undefined;
  #isGone = false;

  constructor(options: {
    readonly path: string;
    readonly driver: string;
    readonly pragmas: string;
    /** Name of the opening, which goes with the writer. */
    readonly opening: string;
    /** Message for a write that has waited too long for other processes. */
    readonly busyText: () => string;
    readonly reserve: string;
    readonly reserveBytes: number;
    /** The disk is full from the start: the reserve was given up. */
    readonly isFull: boolean;
    readonly url: URL;
  }) {
    this.lost = new Promise((done) => {
      this.#tellLost = done;
    });
    const { url, busyText, ...data } = options;
    this.#busyText = busyText;
    this.#worker = new Worker(url, {
      workerData: data,
      execArgv: quietFlags(data.driver),
      env: {}, // nothing of the environment is of use to it
    });
    this.#worker.on("message", (message: Message) => this.#take(message));
    this.#exited = new Promise((done) => {
      this.#worker.once("exit", () => {
        this.#lose();
        done();
      });
    });
    this.#worker.on("error", (error) => {
      this.#fault ??= error;
      this.#lose();
    });
    this.ready = new Promise((done, refuse) => {
      this.#worker.on("message", ({ ready }: Message) => ready === true && done());
      const ended = new Error("it has ended without opening the database");
      void this.#exited.then(() => refuse(notStarted(url, this.#fault ?? ended)));
    });
    this.ready.catch(() => {}); // `openStore` awaits it
  }

  get condition(): Condition {
    return this.#condition;
  }

  /** Tells whether writes wait for room: at once when they do, then at every change, until the answer is called. */
  watchRoom(told: (isFull: boolean) => void): () => void {
    this.#watchers.add(told);
    if (this.#condition === "store_full") told(true);
    return () => this.#watchers.delete(told);
  }

  /** Tells that other processes have written something, soon after, until the answer is called. */
  watchOthers(told: () => void): () => void {
    this.#listeners.add(told);
    return () => void this.#listeners.delete(told);
  }

  /**
   * Writes all of `ops` in one transaction; resolves after its COMMIT. `sync` false: it may wait 10 ms for others. `quiet`: the
   * answer has no results.
   */
  write(
    ops: readonly UnitOp[],
    { sync = true, quiet = false }: WriteOptions = {},
  ): Promise<readonly OpResult[]> {
    if (this.#closed !== undefined || this.#isGone) {
      return Promise.reject(gone(this.#fault));
    }
    const { bytes, records } = sizeOf(ops);
    if (this.#condition === "store_full" && this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
      return Promise.reject(new StoreError("store_full", "the disk is full, and so is the queue"));
    }
    return new Promise((resolve, reject) => {
      if (!this.#isWaiting) this.#worker.ref();
      const id = this.#freeIds.pop() ?? this.#waiting.length;
      this.#waiting[id] = { bytes, resolve, reject };
      this.#waitingBytes += bytes;
      this.#outgoing.push({ id, sync, bytes, records, quiet, ops });
      if (this.#outgoing.length === SENT_AT_ONCE) this.#sendPart();
      else if (this.#outgoing.length === 1 && !this.#isTurnOpen) {
        queueMicrotask(() => this.#isTurnOpen || this.#send());
      }
    });
  }

  /** Writes the queue, marks the end as clean and ends the thread. */
  close(): Promise<void> {
    if (this.#closed === undefined) {
      this.#send();
      this.#worker.ref();
      this.#worker.postMessage({ close: true });
      this.#closed = this.#exited;
    }
    return this.#closed;
  }

  #sendPart(): void {
    this.#send({ more: true });
    if (this.#isTurnOpen) return;
    this.#isTurnOpen = true;
    setImmediate(() => {
      this.#send();
      this.#isTurnOpen = false;
    });
  }

  /** `more`: others follow in the same turn. */
  #send({ more = false } = {}): void {
    const packed = this.#pack(this.#outgoing);
    this.#outgoing = [];
    const now = performance.now();
    const partMs = this.#isTurnOpen ? now - this.#sentAt : null;
    this.#sentAt = now;
    this.#worker.postMessage({ ...packed, more, partMs }, [packed.block]);
  }

  #take({ done, condition, changed }: Message): void {
    if (condition !== undefined) this.#stand(condition);
    if (changed === true) for (const told of [...this.#listeners]) told();
    for (const each of done ?? []) {
      const answer = typeof each === "number" ? { id: each } : each;
      const waiting = this.#waiting[answer.id];
      if (waiting === undefined) continue;
      this.#waiting[answer.id] = undefined;
      this.#freeIds.push(answer.id);
      this.#waitingBytes -= waiting.bytes;
      if ("code" in answer) waiting.reject(this.#refusal(answer));
      else waiting.resolve(answer.results ?? []);
    }
    // After the start, only pending writes keep the process alive.
    if (!this.#isWaiting && this.#closed === undefined) this.#worker.unref();
  }

  get #isWaiting(): boolean {
    return this.#waiting.length > this.#freeIds.length;
  }

  #refusal({ code, message }: { readonly code: string; readonly message: string }): Error {
    return refusal(code, code === "store_busy" ? this.#busyText() : message);
  }

  #stand(condition: Condition): void {
    const wasFull = this.#condition === "store_full";
    this.#condition = condition;
    const isFull = condition === "store_full";
    if (isFull !== wasFull) for (const told of this.#watchers) told(isFull);
    if (condition !== "ok" && condition !== "store_full") this.#tellLost(condition);
  }

  #lose(): void {
    this.#isGone = true;
    if (this.#closed === undefined) this.#stand("store_unavailable");
    for (const waiting of this.#waiting) waiting?.reject(gone(this.#fault));
    this.#waiting.length = 0;
    this.#freeIds.length = 0;
  }
}

function gone(cause: unknown): StoreError {
  const text = "the store is closed, or its writer has ended";
  return new StoreError("store_unavailable", text, { cause });
}

/** The file of the writer's thread. Throws `StoreError` `store_unavailable` when it is not there, as in a bundle that left it out. */
export function writerUrl(given: string | URL | undefined): URL {
  const base: string | undefined = import.meta.url; // undefined in a bundle of CommonJS
  if (given === undefined && base === undefined) throw notStarted(undefined);
  const url =
    given === undefined
      ? new URL("./writer-thread.js", base)
      : new URL(given, pathToFileURL(join(process.cwd(), "/")));
  if (url.protocol === "file:" && !existsSync(fileURLToPath(url))) throw notStarted(url);
  return url;
}

function notStarted(url: URL | undefined, cause?: unknown): StoreError {
  const file = url?.protocol === "file:" ? fileURLToPath(url) : (url?.href ?? "writer-thread.js");
  const why =
    cause === undefined
      ? `${file} is missing`
      : `${file}: ${cause instanceof Error ? cause.message : String(cause)}`;
  const text = `the writer of the store could not start: ${why}. In a bundle, add @millrace/store/writer-thread to it and give its place as \`workerUrl\``;
  return new StoreError("store_unavailable", text, { cause });
}

/** Node 22 warns that its SQLite is experimental. Deno and older Nodes refuse a thread with a flag that they do not know. */
function quietFlags(driver: string): string[] {
  const flag = "--disable-warning";
  const isKnown = process.allowedNodeEnvironmentFlags?.has(flag) === true;
  return driver === "node" && isKnown && !("deno" in process.versions)
    ? [`${flag}=ExperimentalWarning`]
    : [];
}

function sizeOf(ops: readonly UnitOp[]): { readonly bytes: number; readonly records: number } {
  let bytes = 0;
  let records = 0;
  for (const op of ops) {
    if (op.lines !== undefined) {
      bytes += bytesOfLines(op.lines);
      records += op.lines.events.length;
      continue;
    }
    if ("exec" in op) {
      records += 1;
      continue;
    }
    records += op.rows.length;
    for (const row of op.rows) {
      bytes += ROW_BYTES;
      for (const value of row) {
        if (typeof value === "string") bytes += value.length;
        else if (value instanceof Uint8Array) bytes += value.byteLength;
      }
    }
  }
  return { bytes, records };
}

/** A writer of units. */
export type UnitWriter = Pick<Writer, "write">;

/** Writes units at once, each in a transaction of its own. */
export function createMemoryWriter(db: SqliteDb): UnitWriter {
  const { perform } = createUnits(db);
  const pack = createPacker();
  const unpack = createUnpacker();
  const begin = db.prepare("BEGIN");
  const commit = db.prepare("COMMIT");
  return {
    async write(ops: readonly UnitOp[]): Promise<readonly OpResult[]> {
      const answer = performed(ops);
      if ("code" in answer) throw refusal(answer.code, answer.message);
      return answer.results ?? [];
    },
  };

  function performed(ops: readonly UnitOp[]): UnitAnswer {
    try {
      begin.run([]);
    } catch (cause) {
      throw new StoreError("store_unavailable", "the store is closed", { cause });
    }
    try {
      const [unit] = unpack(pack([{ id: 0, sync: true, bytes: 0, records: 0, quiet: false, ops }]));
      const answer = perform(unit as NonNullable<typeof unit>);
      if ("code" in answer) db.exec("ROLLBACK");
      else commit.run([]);
      return answer;
    } catch (error) {
      db.exec("ROLLBACK");
      throw toStoreError(error, "the store cannot be written");
    }
  }
}
