/**
 * A value read from the database, cached until it is changed.
 *   C1  After a write of this process has resolved and `drop` was called, the new value is read.
 *   C2  What another process has written is seen at latest after `MAX_AGE_MS`, mostly at once, by its topic.
 */
import type { Database } from "./port.ts";

/** With the 400 ms for which a server knows revoked tokens it is less than the second that is promised for them. */
const MAX_AGE_MS = 400;

export interface Cached<T> {
  get(): Promise<T>;
  drop(): void;
}

/** `topic`: of the transactions that change it. */
export function cached<T>(db: Database, topic: string, read: () => Promise<T>): Cached<T> {
  const isShared = db.kind !== "memory";
  let held: { readonly value: Promise<T>; readonly readAt: number } | undefined;
  const drop = (): void => {
    held = undefined;
  };
  db.watch((changed) => {
    if (changed === topic || changed === "*") drop();
  });
  return {
    get() {
      if (held !== undefined && !(isShared && performance.now() - held.readAt > MAX_AGE_MS)) {
        return held.value;
      }
      const mine = { value: read(), readAt: performance.now() };
      held = mine;
      mine.value.catch(() => {
        if (held === mine) held = undefined;
      });
      return mine.value;
    },
    drop,
  };
}
