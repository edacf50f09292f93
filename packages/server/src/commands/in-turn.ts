/** Changes that are read, checked and written as one step. */

const turns = new WeakMap<object, Promise<unknown>>();

/** Does `work` when all that was asked before for the same `what`, such as a table, is done, whatever came of it. */
export function inTurn<T>(what: object, work: () => Promise<T>): Promise<T> {
  const mine = (turns.get(what) ?? Promise.resolve()).then(work);
  turns.set(
    what,
    mine.catch(() => {}),
  );
  return mine;
}
