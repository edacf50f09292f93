/**
 * PostgreSQL as the dispatcher of the servers that share a store: the server that takes the row of a run drives it, and
 * notifications wake servers with room.
 *   W1  At most `maxDrives` are at work on this server.
 *   W2  A run is driven once at a time: a row that was lost and taken again waits for the drive before.
 *   W3  A notice that is lost costs a second, a server that dies some seconds: each looks once a second.
 */
import { setMaxListeners } from "node:events";
import {
  Again,
  type Dispatcher,
  DispatcherError,
  type Drive,
  type RingOptions,
} from "@millrace/contracts";
import { sleep } from "@millrace/contracts/kit";
import { checkOptions, type OptionNames } from "@millrace/contracts/options";
import type { SharedStore } from "@millrace/store";
import { nameOf } from "../connect/faults.ts";
import { STALE_MS } from "../schema/names.ts";
import { CallTable, FAIR_MS, type TakenCall } from "./call-table.ts";
import type { CallParts, PostgresDispatcherOptions } from "./options.ts";

/** How often a server says that it serves, looks whose rows it has, and takes what was not told. */
const KEEP_UP_MS = 1_000;
/** Calls that are due later than this are found without a notification. */
const TOLD_MS = 2_000;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;
const TOPIC = "drive_call";

const CALLER = "createPostgresDispatcher";
const OPTIONS: OptionNames<PostgresDispatcherOptions> = { store: true, maxDrives: true, log: true };
const MAX_DRIVES = 10_000;

const partsOf = new WeakMap<SharedStore, CallParts>();

/** Lets dispatchers be made over a store. */
export function keepParts(store: SharedStore, parts: CallParts): void {
  partsOf.set(store, parts);
}

/**
 * The dispatcher of servers that share a store in PostgreSQL, and nothing else. It takes one connection more. Throws `TypeError` for
 * options that are wrong.
 */
export function createPostgresDispatcher(options: PostgresDispatcherOptions): Dispatcher {
  checkOptions(CALLER, options, OPTIONS);
  const { store, maxDrives = 64, log } = options;
  const parts = partsOf.get(store);
  if (parts === undefined) {
    throw new TypeError(`${CALLER}: "store" must be what openPostgresStore has opened`);
  }
  if (!Number.isInteger(maxDrives) || maxDrives < 1 || maxDrives > MAX_DRIVES) {
    throw new TypeError(`${CALLER}: "maxDrives" must be a whole number from 1 to ${MAX_DRIVES}`);
  }
  return new PostgresDispatcher(parts, { maxDrives, log });
}

interface Work extends TakenCall {
  readonly lost: AbortController;
  readonly settled: Promise<void>;
}

class PostgresDispatcher implements Dispatcher {
  readonly #parts: CallParts;
  readonly #table: CallTable;
  readonly #maxDrives: number;
  readonly #log: PostgresDispatcherOptions["log"];
  readonly #working = new Map<number, Work>();
  /** Drives at work, and what is said of those that have ended. */
  readonly #settling = new Set<Promise<void>>();
  readonly #leave = new AbortController();
  #drive: Drive | undefined;
  #unwatch = (): void => {};
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isAskedAgain = false;
  /** By `performance.now()`. */
  #keptUpAt = Number.NEGATIVE_INFINITY;
  #closed: Promise<void> | undefined;

  constructor(
    parts: CallParts,
    { maxDrives, log }: { readonly maxDrives: number } & Pick<PostgresDispatcherOptions, "log">,
  ) {
    this.#parts = parts;
    this.#table = new CallTable(parts);
    this.#maxDrives = maxDrives;
    this.#log = log;
    setMaxListeners(0, this.#leave.signal); // each drive at work listens
  }

  get condition(): "ok" | "degraded" {
    return this.#table.answers && this.#parts.hears() ? "ok" : "degraded";
  }

  async ring(runId: string, { delayMs = 0 }: RingOptions = {}): Promise<void> {
    this.#checkOpen();
    let isFree: boolean;
    try {
      isFree = await this.#table.ring(runId, delayMs);
    } catch (error) {
      const text = `PostgreSQL did not take the ring: ${nameOf(error)}`;
      throw new DispatcherError("dispatcher_unavailable", text);
    }
    if (isFree) this.#tell(delayMs);
  }

  async serve(drive: Drive): Promise<void> {
    this.#checkOpen();
    if (this.#drive !== undefined) {
      throw new DispatcherError("dispatcher_serves", "the dispatcher serves a drive already");
    }
    this.#drive = drive;
    this.#unwatch = this.#parts.watch((topic) => {
      if (topic === TOPIC) this.#look();
    });
    this.#look();
    await this.#looking;
  }

  close({ graceMs = 0 }: { readonly graceMs?: number | undefined } = {}): Promise<void> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<void> {
    this.#unwatch();
    clearTimeout(this.#timer);
    await this.#looking; // what it takes is given back
    const settled = new AbortController();
    const leave = async (): Promise<void> => {
      if (graceMs > 0) await sleep(graceMs, settled.signal);
      this.#leave.abort(new DispatcherError("dispatcher_closed", "the dispatcher closes"));
    };
    leave().catch(() => {}); // all have ended before
    while (this.#settling.size > 0) await Promise.all(this.#settling);
    settled.abort();
    await this.#table.close();
  }

  #checkOpen(): void {
    if (this.#closed === undefined) return;
    throw new DispatcherError("dispatcher_closed", "the dispatcher is closed");
  }

  /** A row is due after so long: servers with room look at it then. */
  #tell(delayMs: number): void {
    if (delayMs > TOLD_MS) return;
    this.#parts.tell([TOPIC]);
    this.#look();
  }

  /** Looks now, or once more when a look is under way. */
  #look(): void {
    if (this.#drive === undefined || this.#closed !== undefined) return;
    if (this.#looking !== undefined) {
      this.#isAskedAgain = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#looking = this.#lookOnce(this.#drive).then((nextMs) => {
      this.#looking = undefined;
      if (this.#isAskedAgain) {
        this.#isAskedAgain = false;
        this.#look();
      } else if (this.#closed === undefined) {
        this.#timer = setTimeout(() => this.#look(), nextMs).unref();
      }
    });
  }

  /** Never rejects; answers when to look again. */
  async #lookOnce(drive: Drive): Promise<number> {
    try {
      if (performance.now() - this.#keptUpAt >= KEEP_UP_MS) await this.#keepUp();
      const places = this.#maxDrives - this.#working.size;
      if (places > 0) {
        const { taken, nextMs = KEEP_UP_MS } = await this.#table.take(places);
        for (const call of taken) this.#begin(drive, call);
        const isFull = this.#working.size >= this.#maxDrives;
        // What is due and was not taken is left to others for a moment; a drive that ends looks again.
        if (!isFull) return Math.min(KEEP_UP_MS, nextMs <= 0 ? FAIR_MS : nextMs);
      }
    } catch {
      // It is away, which `condition` says. Others may have what is driven here, when that lasts.
      if (performance.now() - this.#keptUpAt > STALE_MS) this.#lose(() => true);
    }
    return KEEP_UP_MS;
  }

  /** Compares what is driven here with the rows that this server has. */
  async #keepUp(): Promise<void> {
    const held = await this.#table.keepUp();
    this.#keptUpAt = performance.now();
    const turns = new Set(held.map(({ turn }) => turn));
    this.#lose(({ turn }) => !turns.has(turn));
    for (const call of held) {
      // Its answer was lost, or what was said of its end.
      if (!this.#working.has(call.turn)) this.#settle(this.#giveBack(call, { delayMs: 0 }));
    }
  }

  #lose(isLost: (work: Work) => boolean): void {
    for (const work of this.#working.values()) if (isLost(work)) work.lost.abort();
  }

  #begin(drive: Drive, call: TakenCall): void {
    const before = [...this.#working.values()].filter(({ runId }) => runId === call.runId);
    const lost = new AbortController();
    setMaxListeners(0, lost.signal);
    const settled = this.#work(drive, { call, lost, before });
    this.#working.set(call.turn, { ...call, lost, settled });
    this.#settle(settled);
  }

  #settle(settled: Promise<void>): void {
    this.#settling.add(settled);
    void settled.finally(() => this.#settling.delete(settled));
  }

  /** One drive, and what is said of its end. Never rejects. */
  async #work(
    drive: Drive,
    {
      call,
      lost,
      before,
    }: {
      readonly call: TakenCall;
      readonly lost: AbortController;
      readonly before: readonly Work[];
    },
  ): Promise<void> {
    const { runId } = call;
    await Promise.all(before.map(({ settled }) => settled)); // also: it is in `#working` from here on
    try {
      if (this.#leave.signal.aborted) throw new Again("this server stops");
      const result = await drive(runId, { signal: this.#leave.signal, lost: lost.signal });
      this.#working.delete(call.turn);
      if (result === "done") await this.#end(call);
      else await this.#giveBack(call, { delayMs: result.again });
    } catch (error) {
      this.#working.delete(call.turn);
      if (!Again.isInstance(error) && !lost.signal.aborted) {
        this.#log?.warn({ runId, err: error }, "run.drive_failed");
      }
      await this.#refuse(call);
    }
  }

  /** Never rejects: what could not be said is found by `#keepUp`. */
  async #end(call: TakenCall): Promise<void> {
    const ended = this.#table.end(call);
    this.#look();
    if (await ended.catch(() => false)) this.#tell(0);
  }

  async #refuse(call: TakenCall): Promise<void> {
    if (this.#closed !== undefined)
      return this.#giveBack(call, { delayMs: 0, failures: call.failures });
    const failures = call.failures + 1;
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
    return this.#giveBack(call, { delayMs, failures });
  }

  /** Never rejects. `failures`: the drive failed, and another server shall be called rather. */
  async #giveBack(
    call: TakenCall,
    { delayMs, failures }: { readonly delayMs: number; readonly failures?: number },
  ): Promise<void> {
    try {
      const isRefused = failures !== undefined;
      await this.#table.leave(call, { delayMs, failures: failures ?? 0, isRefused });
      this.#tell(delayMs);
    } catch {
      // as above
    }
  }
}
