/** Results of nodes in memory, with a bound: the latest used stay. One maker per key at a time. */
import type { Json } from "@millrace/contracts";

const MAX_BYTES = 64 * 1_048_576;

interface Entry {
  readonly port: string;
  readonly output: Json;
  readonly bytes: number;
  readonly until: number;
}

/** An attempt that makes the result of a key. */
interface Maker {
  readonly over: boolean;
}

/** The cache of one engine. */
export class ResultCache {
  readonly #entries: Map<string, Entry> = new Map();
  #bytes = 0;
  /** Keys whose results are being made, and their waiters. */
  readonly #making: Map<string, { maker: Maker; waiting: (() => void)[] }> = new Map();

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
  claim(key: string, maker: Maker, then: () => void): boolean {
    const making = this.#making.get(key);
    if (making !== undefined && !making.maker.over) {
      making.waiting.push(then);
      return false;
    }
    this.#making.set(key, { maker, waiting: making?.waiting ?? [] });
    return true;
  }

  /** The maker is done, with or without a result. */
  done(maker: Maker, key: string): void {
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
