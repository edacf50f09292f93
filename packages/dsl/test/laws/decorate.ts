/** Canonical text made uncanonical: comments, empty lines, items in another order, other blanks, other line ends. */
import { itemsIn, layoutOf } from "./layout.ts";
import type { Random } from "./random.ts";

const COMMENTS: readonly string[] = ["", " c", "#", "  spaced", " ${x}", ' "', " é 👍", "!", " }"];

/**
 * Comments and empty lines wherever the language takes them. Most comments end in `@` and two numbers: of the item that they
 * are in or lead, and of their own.
 */
export function decorate(text: string, r: Random): string {
  const layout = layoutOf(text);
  const owners = ownersOf(text, layout);
  let count = 0;
  let decorated = "";
  let done = 0;
  let next = 0;
  for (const [index, line] of layout.lines.entries()) {
    const comment = (): string => {
      count += 1;
      return `#${r.pick(COMMENTS)}${r.chance(0.8) ? `@${owners[index]}.${count}` : ""}`;
    };
    decorated += text.slice(done, line.start);
    done = line.start;
    if (line.kind === "code") {
      while (r.chance(0.12)) decorated += r.chance(0.5) ? "\n" : `  ${comment()}\n`;
    }
    for (; (layout.breaks[next] ?? Infinity) <= line.end; next += 1) {
      if (!r.chance(0.04)) continue;
      const at = layout.breaks[next] as number;
      decorated += text.slice(done, at) + (r.chance(0.7) ? ` ${comment()}\n` : "\n");
      done = at;
    }
    decorated += text.slice(done, line.end);
    done = line.end;
    const isEmpty = line.start === line.end;
    if (line.takesComment && !isEmpty && r.chance(0.12)) decorated += ` ${comment()}`;
  }
  return decorated + text.slice(done);
}

/** For each line the number of the top-level item that a comment on it or above it belongs to. */
function ownersOf(text: string, layout: ReturnType<typeof layoutOf>): readonly number[] {
  const owners: number[] = [];
  for (const [index, { end }] of itemsIn(text, layout).entries()) {
    while (owners.length < end) owners.push(index);
  }
  while (owners.length < layout.lines.length) owners.push(owners.length);
  return owners;
}

/** The same comments and items, the items behind the first in another order. */
export function shuffleItems(text: string, r: Random): string {
  const layout = layoutOf(text);
  const [head, ...items] = itemsIn(text, layout).map(({ start, end }) =>
    text.slice(layout.lines[start]?.start, layout.lines[end]?.start ?? text.length),
  );
  return [head ?? "", ...r.shuffle(items)].join("");
}

/** Other blanks: indentation, numbers of empty lines, line ends. The meaning and the canonical form stay. */
export function reblank(text: string, r: Random): string {
  const lines: string[] = [];
  for (const { start, end, kind } of layoutOf(text).lines) {
    const line = text.slice(start, end);
    if (kind !== "code") lines.push(line);
    else if (line.trim() === "") lines.push(...r.list(2, () => r.pick(["", "  ", "\t"])), "");
    else {
      const indent = r.pick(["", " ", "\t", "      "]);
      lines.push(indent + line.trimStart() + r.pick(["", "", " ", "\t"]));
    }
  }
  return lines.join(r.chance(0.5) ? "\r\n" : "\n");
}

/** Whether the numbered comments of each item stand in the order in which they were put there. */
export function keepsOrder(comments: readonly string[]): boolean {
  const last = new Map<string, number>();
  for (const comment of comments) {
    const [, owner, number] = /@(\d+)\.(\d+)$/.exec(comment) ?? [];
    if (owner === undefined) continue;
    if (Number(number) < (last.get(owner) ?? 0)) return false;
    last.set(owner, Number(number));
  }
  return true;
}
