// Where a slip may stand in a text: a pattern finds the places, and one of them or all are written anew.

/** One of a list. */
export const pick = (list, random) => list[Math.floor(random() * list.length)];

const global = (pattern) => new RegExp(pattern.source, `${pattern.flags.replace("g", "")}g`);

/** A rule that changes one place; `to` gets the match, its groups and, last, the random numbers. */
export const one = (pattern, to) => (text, random) => {
  const match = pick([...text.matchAll(global(pattern))], random);
  if (!match) return undefined;
  const behind = text.slice(match.index + match[0].length);
  return `${text.slice(0, match.index)}${to(...match, random)}${behind}`;
};

/** A rule that changes every place. */
export const every = (pattern, to) => (text, random) => {
  const changed = text.replace(global(pattern), (...found) => {
    const groups = found.slice(
      0,
      found.findIndex((part) => typeof part === "number"),
    );
    return to(...groups, random);
  });
  return changed === text ? undefined : changed;
};
