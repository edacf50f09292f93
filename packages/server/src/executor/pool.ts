/** Does `work` for each of `items`, in their order, at most `size` at a time. Rejects with the first rejection. */
export async function inPool<T>(
  size: number,
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: size }, worker));
}
