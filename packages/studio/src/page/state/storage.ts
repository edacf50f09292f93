/** Storage of the browser. When the browser forbids it or has no room, nothing is kept, and nothing fails. */

/** A storage of the browser that never throws. */
export interface Kept {
  /** Null: nothing is kept under the key. */
  get(key: string): string | null;
  /** Keeps a text; false: the browser does not. */
  set(key: string, text: string): boolean;
  remove(key: string): void;
  keys(): readonly string[];
}

/** Guards a storage, which is asked for anew each time: to ask for it may fail already. */
export function guarded(storage: () => Storage | undefined): Kept {
  const tried = <T>(work: (found: Storage) => T, otherwise: T): T => {
    try {
      const found = storage();
      return found === undefined ? otherwise : work(found);
    } catch {
      return otherwise;
    }
  };
  return {
    get: (key) => tried((found) => found.getItem(key), null),
    set: (key, text) =>
      tried((found) => {
        found.setItem(key, text);
        return true;
      }, false),
    remove: (key) => tried((found) => found.removeItem(key), undefined),
    keys: () =>
      tried((found) => Array.from({ length: found.length }, (_, at) => found.key(at) ?? ""), []),
  };
}

/** Kept for every tab, also when the browser was closed. */
export const keptByBrowser: Kept = guarded(() => globalThis.localStorage);

/** Kept for this tab, until it is closed. */
export const keptByTab: Kept = guarded(() => globalThis.sessionStorage);
