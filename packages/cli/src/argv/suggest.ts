/** The hint for a misspelt word: the nearest known word, if one is near. */
export async function meant(word: string, known: readonly string[]): Promise<string | undefined> {
  // Loaded on the first mistake only.
  const { nearestName } = await import("@millrace/contracts/kit");
  const near = nearestName(word, known);
  return near === undefined ? undefined : `did you mean ${near}?`;
}
