/** Edges as a text has them: a chain is several, and when one of them goes the others stay. */

import type { EdgeEnd, EdgeItem, Item } from "../../language/items.ts";
import type { TextEdit } from "../types.ts";
import type { Lines } from "./lines.ts";
import { removal } from "./place-item.ts";

/** Whether an edge is meant. */
export type IsMeant = (from: string, port: string, to: string) => boolean;

/** Whether one of some items holds an edge that is meant. */
export function hasEdge(items: readonly Item[], isMeant: IsMeant): boolean {
  return items.some((item) => item.kind === "edge" && pairsOf(item).some(meantBy(isMeant)));
}

/** The edits that take the meant edges out of some items. */
export function withoutEdges(
  lines: Lines,
  items: readonly Item[],
  isMeant: IsMeant,
): { readonly gone: readonly Item[]; readonly edits: readonly TextEdit[] } {
  const gone: Item[] = [];
  const edits: TextEdit[] = [];
  for (const item of items) {
    if (item.kind !== "edge") continue;
    const pairs = pairsOf(item);
    const kept = pairs.filter((pair) => !meantBy(isMeant)(pair));
    if (kept.length === pairs.length) continue;
    if (kept.length === 0) gone.push(item);
    else edits.push({ from: item.start, to: item.end, text: chainsOf(lines, item, kept) });
  }
  return { gone, edits };
}

/** The edits that take edges away, whole items with their comments. */
export function removeEdges(
  lines: Lines,
  items: readonly Item[],
  isMeant: IsMeant,
): readonly TextEdit[] {
  const { gone, edits } = withoutEdges(lines, items, isMeant);
  return [...edits, ...removal(lines, gone)];
}

interface Pair {
  readonly from: EdgeEnd;
  readonly to: EdgeEnd;
}

function pairsOf({ ends }: EdgeItem): readonly Pair[] {
  return ends.slice(1).map((to, index) => ({ from: ends[index] as EdgeEnd, to }));
}

function meantBy(isMeant: IsMeant): (pair: Pair) => boolean {
  return ({ from, to }) => isMeant(from.node, from.port ?? "out", to.node);
}

/** The remaining parts of a chain, as written; each part has the object that the whole chain had. */
function chainsOf(lines: Lines, { ends, meta, start }: EdgeItem, kept: readonly Pair[]): string {
  const { text } = lines;
  const chains: Pair[][] = [];
  for (const pair of kept) {
    const chain = chains.at(-1);
    if (chain?.at(-1)?.to === pair.from) chain.push(pair);
    else chains.push([pair]);
  }
  const object = meta ? ` ${text.slice(meta.start, meta.end)}` : "";
  return chains
    .map((chain) => {
      const { from } = chain[0] as Pair;
      const { to } = chain.at(-1) as Pair;
      // The port of a node in the middle is that of the edge behind it.
      return text.slice(from.start, to === ends.at(-1) ? to.end : to.nodeEnd) + object;
    })
    .join(lines.lineBreak + lines.indent(start));
}
