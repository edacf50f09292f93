/**
 * Patterns of `file.list`: `*` and `?` stay within a name, `**` as a whole part crosses folders, anything else is itself.
 * Matching keeps sets of positions and never goes back, so no pattern is slow.
 */

export interface Glob {
  /** Whether a path (relative to where the list begins) fits. */
  fits(path: string): boolean;
  /** Deepest folder that can hold a fitting file, as a number of parts; infinite with `**`. */
  readonly depth: number;
}

export function compileGlob(pattern: string): Glob {
  const parts = pattern.split("/").filter((part, i, all) => part !== "**" || all[i - 1] !== "**");
  const crosses = parts.includes("**");
  return {
    depth: crosses ? Number.POSITIVE_INFINITY : parts.length - 1,
    fits: (path) => fitsParts(parts, path.split("/")),
  };
}

function fitsParts(pattern: readonly string[], path: readonly string[]): boolean {
  return run(pattern, path, {
    isStar: (part) => part === "**",
    fits: (part, name) => fitsName([...part], [...name]),
  });
}

function fitsName(pattern: readonly string[], name: readonly string[]): boolean {
  return run(pattern, name, {
    isStar: (unit) => unit === "*",
    fits: (unit, character) => unit === "?" || unit === character,
  });
}

/** One automaton for both levels: a star stands for any number of elements. */
function run(
  pattern: readonly string[],
  input: readonly string[],
  rules: { isStar(unit: string): boolean; fits(unit: string, element: string): boolean },
): boolean {
  let at = closure(new Set([0]), pattern, rules);
  for (const element of input) {
    const next = new Set<number>();
    for (const position of at) {
      const unit = pattern[position];
      if (unit === undefined) continue;
      if (rules.isStar(unit)) next.add(position);
      else if (rules.fits(unit, element)) next.add(position + 1);
    }
    if (next.size === 0) return false;
    at = closure(next, pattern, rules);
  }
  return at.has(pattern.length);
}

/** A star may also stand for nothing. */
function closure(
  positions: Set<number>,
  pattern: readonly string[],
  rules: { isStar(unit: string): boolean },
): Set<number> {
  // A set visits what is added while it is walked.
  for (const position of positions) {
    const unit = pattern[position];
    if (unit !== undefined && rules.isStar(unit)) positions.add(position + 1);
  }
  return positions;
}
