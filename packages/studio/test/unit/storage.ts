/** A storage of a browser. */
export function storage(room = Number.POSITIVE_INFINITY) {
  const kept = new Map<string, string>();
  return {
    kept,
    get: (key: string) => kept.get(key) ?? null,
    set(key: string, value: string) {
      const hasRoom = value.length <= room;
      if (hasRoom) kept.set(key, value);
      return hasRoom;
    },
    remove: (key: string) => void kept.delete(key),
    keys: () => [...kept.keys()],
  };
}
