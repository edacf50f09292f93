/**
 * Collections of what lives as long as a run, in a process that runs many. What V8 has moved to the old space, or has made there, keeps
 * whatever it names until the next full collection, also when nobody uses it any more. Where one such object names a run, all of the run is copied
 * twice by the collector.
 */

/**
 * A map by text whose entries come and go for ever, in no order; no value is undefined. `Map` replaces its table as they do, and each table
 * names the next one: one in the old space keeps all later ones, with their entries.
 */
export class UnorderedMap<Value> {
  readonly #entries: { [key: string]: Value } = Object.create(null);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): Value | undefined {
    return this.#entries[key];
  }

  has(key: string): boolean {
    return this.#entries[key] !== undefined;
  }

  set(key: string, value: Value): void {
    if (!this.has(key)) this.#size += 1;
    this.#entries[key] = value;
  }

  /** False: there is no such entry. */
  delete(key: string): boolean {
    if (!this.has(key)) return false;
    this.#size -= 1;
    return delete this.#entries[key];
  }

  /** The keys as they are now. */
  keys(): string[] {
    return Object.keys(this.#entries);
  }

  /** The values as they are now. */
  values(): Value[] {
    return Object.values(this.#entries);
  }
}

/** A list of these items. V8 makes the lists of a literal in the old space once most of them have lived long; these it does not. */
export function listOf<Item>(...items: readonly Item[]): Item[] {
  return Array.of(...items);
}
