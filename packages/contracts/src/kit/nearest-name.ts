/** "Did you mean": the one known name that a misspelt one most likely stands for. */

/** A list longer than this is data, not a vocabulary. */
const MAX_CANDIDATES = 2_000;
/** No vocabulary has longer words; comparing them would only cost time. */
const MAX_LENGTH = 64;

/**
 * The candidate at the smallest Damerau-Levenshtein distance, at most 2 (1 for names under five letters), that shares a
 * letter with the name; of equally near ones the first. Undefined when none is near.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  let least = name.length < 5 ? 2 : 3;
  let nearest: string | undefined;
  let seen = 0;
  for (const candidate of candidates) {
    seen += 1;
    if (seen > MAX_CANDIDATES) break;
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const distance = editDistance(name, candidate);
    // Two names of one letter share none.
    if (distance > 0 && distance < least && name.length + candidate.length > 2) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

/** Insertions, deletions, replacements and swaps of neighbours between two names. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const inserted = (row[j - 1] as number) + 1;
      row[j] = Math.min(
        inserted,
        (above[j] as number) + 1,
        (above[j - 1] as number) + (same ? 0 : 1),
        swapped ? (before[j - 2] as number) + 1 : inserted,
      );
    }
    before = above;
    above = row;
  }
  return above[b.length] as number;
}
