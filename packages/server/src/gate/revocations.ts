/**
 * The tokens that the settings take away from all servers of a store. What is known of them is asked for again after 400 ms, and settings
 * that a store keeps are as old at most: less than a second.
 */
import type { SettingsTable } from "@millrace/store";
import { readSettings } from "../config/settings.ts";

const MAX_AGE_MS = 400;

export class Revocations {
  readonly #table: Pick<SettingsTable, "all">;
  readonly #changed: () => void;
  #ids: ReadonlySet<string> = new Set();
  #list: readonly string[] | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  /** `changed` is told that other tokens are taken away than before. */
  constructor(table: Pick<SettingsTable, "all">, changed: () => void) {
    this.#table = table;
    this.#changed = changed;
  }

  has(tokenId: string): boolean {
    return this.#ids.has(tokenId);
  }

  /** Resolves when what is known is young; undefined: it is. A store that cannot be read changes nothing. */
  fresh(): Promise<void> | undefined {
    if (performance.now() - this.#readAt < MAX_AGE_MS) return undefined;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Looks by itself while `isNeeded`, until the answer is called. */
  watch(isNeeded: () => boolean): () => void {
    const look = (): void => {
      if (isNeeded()) void this.fresh();
    };
    const timer = setInterval(look, MAX_AGE_MS).unref();
    return () => clearInterval(timer);
  }

  async #read(): Promise<void> {
    const begunAt = performance.now();
    try {
      const { revokedTokens: revoked } = await readSettings(this.#table);
      this.#readAt = begunAt;
      if (revoked === this.#list) return;
      this.#list = revoked;
      this.#ids = new Set(revoked);
      this.#changed();
    } catch {
      // users of the store report that it is away
    }
  }
}
