/** JSON Pointers, written and read. @see RFC 6901, section 3 */

/** One step of a JSON Pointer, with its slash: `/a~1b` for the member `a/b`. */
export function pointerSegment(key: string | number): string {
  // Most keys need no escape, and a catalog of 500 entries has tens of thousands.
  if (typeof key === "number" || !/[~/]/.test(key)) return `/${key}`;
  return `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The key that a step without its slash stands for: `a/b` for `a~1b`. */
export function pointerKey(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** The keys of a JSON Pointer, in order; none for the empty one. */
export function pointerKeys(pointer: string): string[] {
  return pointer.split("/").slice(1).map(pointerKey);
}
