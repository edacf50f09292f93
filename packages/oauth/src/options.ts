/** Throws `TypeError` for an option of `caller` that is none of `known`: a misspelt one would be passed over. */
export function checkNames(caller: string, options: object, known: readonly string[]): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`${caller}: options must be an object`);
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`${caller}: unknown option "${unknown}"; there are ${known.join(", ")}`);
}

/** The caller's own parameters: behind ours, and never one of ours. Throws `TypeError`. */
export function extraEntries(
  extra: Readonly<Record<string, string>> | undefined,
  ours: ReadonlySet<string>,
): [string, string][] {
  const entries = Object.entries(extra ?? {});
  for (const [name] of entries) {
    if (ours.has(name)) {
      throw new TypeError(
        `extraParams must not name "${name}": this package writes that parameter itself`,
      );
    }
  }
  return entries;
}
