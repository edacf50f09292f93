/**
 * Collections of what lives as long as a run, in a process that runs many. What V8 has moved to the old space, or has made there, keeps
 * whatever it names until the next full collection, also when nobody uses it any more. Where one such object names a run, all of the run is copied
 * twice by the collector.
 */

/**
 * A map by text whose entries come and go for ever, in no order. `Map` replaces its table as they do, and each table names the next one: one
 * in the old space keeps all later ones, with their entries.
 */
export class UnorderedMap<Value> {
  /** Places in the two lists. */
  readonly #places: { [key: string]: number } = Object.create(null);
  readonly #keys: string[] = [];
  readonly #values: Value[] = [];

  get size(): number {
    return this.#keys.length;
  }

  get(key: string): Value | undefined {
    const at = this.#places[key];
    return at === undefined ? undefined : this.#values[at];
  }

  has(key: string): boolean {
    return this.#places[key] !== undefined;
  }

  set(key: string, value: Value): void {
    this.#places[key] ??= this.#keys.push(key) - 1;
    this.#values[this.#places[key]] = value;
  }

  /** False: there is no such entry. */
  delete(key: string): boolean {
    const at = this.#places[key];
    if (at === undefined) return false;
    delete this.#places[key];
    const last = this.#keys.pop() as string;
    const value = this.#values.pop() as Value;
    if (last === key) return true;
    this.#keys[at] = last; // the last one takes the place that is free
    this.#values[at] = value;
    this.#places[last] = at;
    return true;
  }

  /** The keys as they are now. */
  keys(): string[] {
    return this.#keys.slice();
  }

  /** The values as they are now. */
  values(): Value[] {
    return this.#values.slice();
  }
}

/** A list of these items. V8 makes the lists of a literal in the old space once most of them have lived long; these it does not. */
export function listOf<Item>(...items: Item[]): Item[] {
  return items;
}
