/** Throws `TypeError` for an option of `caller` that is none of `known`: a misspelt one would be passed over. */
export function checkNames(caller: string, options: object, known: readonly string[]): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`${caller}: options must be an object`);
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`${caller}: unknown option "${unknown}"; there are ${known.join(", ")}`);
}

/** Options that may be absent, by their letters alone: another spelling of one would be passed over. */
const SPELLINGS: ReadonlyMap<string, string> = new Map(
  "usePkce pkce clientAuth codeVerifier extraParams timeoutMs lock requireStateOnError expectedIssuer"
    .split(" ")
    .map((name) => [name.toLowerCase(), name]),
);

/** Names that need no look at their letters: a fresh token is had in the time of a few `JSON.parse`. */
const SPELT: ReadonlySet<string> = new Set("tokenUrl clientId clientSecret store slug".split(" "));

/**
 * Throws `TypeError` for another spelling of an option that is not given, such as `usePKCE`. Other names may be there: callers spread
 * descriptors that have members of their own.
 */
export function checkSpelling(options: object): void {
  for (const name of Object.keys(options)) {
    if (SPELT.has(name)) continue;
    const meant = SPELLINGS.get(name.toLowerCase().replace(/[-_]/g, ""));
    if (meant === undefined || meant in options) continue;
    throw new TypeError(`unknown option "${name}"; did you mean "${meant}"?`);
  }
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
