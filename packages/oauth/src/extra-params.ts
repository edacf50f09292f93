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
