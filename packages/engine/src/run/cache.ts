/** Results that are not made twice: in memory with a bound, beyond it by a port; one maker per key at a time. */
import type { Json } from "@millrace/contracts";
import type { Fields } from "../node-type.ts";
import { connectionNamed } from "../services/link.ts";
import { digestOf, sizeOf, toOutput } from "../values.ts";
import type { Attempt } from "./attempt.ts";
import { emitLog } from "./emit.ts";
import { contentHash } from "./hash.ts";
import { portsOf } from "./pins.ts";
import { scopeOf } from "./propagate.ts";
import { type Result, succeed } from "./settle.ts";
import { plainFields } from "./start.ts";

const MAX_BYTES = 64 * 1_048_576;

interface Entry {
  readonly port: string;
  readonly output: Json;
  readonly bytes: number;
  readonly until: number;
}

/** The cache of one engine. */
export class ResultCache {
  readonly #entries: Map<string, Entry> = new Map();
  #bytes = 0;
  /** Keys that are being made, and who waits for them. */
  readonly #making: Map<string, { maker: Attempt; waiting: (() => void)[] }> = new Map();

  get(key: string, now: number): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#remove(key, entry);
    if (entry.until <= now) return undefined;
    this.#add(key, entry); // the latest used are the last to go
    return entry;
  }

  set(key: string, entry: Entry): void {
    const old = this.#entries.get(key);
    if (old !== undefined) this.#remove(key, old);
    if (entry.bytes > MAX_BYTES) return;
    this.#add(key, entry);
    for (const [oldest, found] of this.#entries) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#remove(oldest, found);
    }
  }

  /** Whether `maker` makes it; else `then` is called when the present maker is done. */
  claim(key: string, maker: Attempt, then: () => void): boolean {
    const making = this.#making.get(key);
    if (making !== undefined && !making.maker.over) {
      making.waiting.push(then);
      return false;
    }
    this.#making.set(key, { maker, waiting: making?.waiting ?? [] });
    return true;
  }

  /** The maker is done, with or without a result. */
  done(maker: Attempt, key: string): void {
    const making = this.#making.get(key);
    if (making?.maker !== maker) return;
    this.#making.delete(key);
    for (const then of making.waiting) then();
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
  }

  #remove(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}

/** The key of a node's result. Throws what the expression of the key throws. */
export function cacheKeyOf(attempt: Attempt, fields: Fields): string {
  const { run, frame, node, policy } = attempt;
  const own = policy.cache?.key ?? null;
  const { host } = run.engine;
  const by =
    own === null
      ? digestOf(plainFields(fields), host)
      : digestOf(own.evaluate(scopeOf(run, frame), attempt.startedAt), host);
  return `${contentHash(frame.layout, node, host)} ${slugOf(attempt, fields)} ${by}`;
}

/** One account's answers are not another's: the slug behind a connection may change while the flow does not. */
function slugOf({ type, frame }: Attempt, fields: Fields): string {
  const name = fields[type.entry.requires.connection ?? ""];
  return typeof name === "string" ? connectionNamed(frame.layout.connections, name).slug : "";
}

/** Ends the attempt with a kept result, or calls `make`. */
export function answerFromCache(attempt: Attempt, key: string, make: () => void): void {
  const { run } = attempt;
  const { cache } = run.engine;
  attempt.aside.cacheKey = key;
  const entry = cache.get(key, run.now);
  if (entry !== undefined) {
    const { port, output, bytes } = entry;
    succeed(attempt, { port, output, bytes, cached: true, ref: null });
    return;
  }
  const again = () => {
    if (attempt.over) return;
    run.tick();
    answerFromCache(attempt, key, make);
    run.engine.pump(run);
  };
  if (!cache.claim(key, attempt, again)) {
    run.link(attempt);
    return;
  }
  const port = run.engine.options.cache;
  if (port === undefined) {
    make();
    return;
  }
  run.link(attempt);
  const settled = (found: Result | null) => {
    if (attempt.over) return;
    run.tick();
    if (found === null) make();
    else succeed(attempt, found);
    run.engine.pump(run);
  };
  const read = async () => readEntry(attempt, await port.get(key));
  read().then(settled, () => {
    warn(attempt);
    settled(null);
  });
}

/** What a port has kept, as a result; null: nothing. Throws for what this node cannot have left behind. */
function readEntry({ frame, node }: Attempt, found: unknown): Result | null {
  if (found === undefined) return null;
  const { port, output } = found as { port: unknown; output: unknown };
  if (typeof port !== "string" || output === undefined) throw new TypeError("no result");
  if (!portsOf(frame.layout, node).includes(port)) throw new TypeError("no port of this node");
  const value = toOutput(output);
  return { port, output: value, bytes: sizeOf(value), cached: true, ref: null };
}

/** Keeps a result that this attempt has made. */
export function cacheResult(attempt: Attempt, result: Result): void {
  const { run, policy } = attempt;
  const { cacheKey } = attempt.aside;
  if (cacheKey === null || policy.cache === null) return;
  const { ttlMs } = policy.cache;
  const { port, output, bytes } = result;
  run.engine.cache.set(cacheKey, { port, output, bytes, until: run.now + ttlMs });
  const beyond = run.engine.options.cache;
  if (beyond !== undefined) {
    call(() => beyond.set(cacheKey, { port, output }, ttlMs)).catch(() => warn(attempt));
  }
}

/** The attempt is over: the next in line for its key may look again. */
export function leaveCache(attempt: Attempt): void {
  const key = attempt.asideIfAny?.cacheKey ?? null;
  if (key !== null) attempt.run.engine.cache.done(attempt, key);
}

function warn(attempt: Attempt): void {
  const { run } = attempt;
  if (run.state === "over" || run.summary !== null) return;
  run.tick();
  const text = `the cache failed for ${attempt.frame.path(attempt.node)}; it counts as a miss`;
  emitLog(run, { level: "warn", channel: "engine", text, code: "cache_failed" });
  run.engine.pump(run);
}

/** A port may throw where it should reject. */
async function call<T>(act: () => Promise<T>): Promise<T> {
  return await act();
}
