/** What was declared while a text is read, so that a second declaration finds the first. */

import type { FlowEdge } from "@millrace/contracts";
import type { Span } from "../syntax/ast.ts";

/** Where things of one kind were first declared, by name; only offsets are kept, as a text may have very many. */
export class Declared {
  private readonly places = new Map<string, number>();
  /** Start and end of each declaration at the place of its name; -1: it is only spoken of. */
  private readonly spans: number[] = [];

  /** The place of a name: the same number whenever it is asked for. */
  place(name: string): number {
    const known = this.places.get(name);
    if (known !== undefined) return known;
    const place = this.spans.length;
    this.places.set(name, place);
    this.spans.push(-1, -1);
    return place;
  }

  /** Notes a declaration; answers where the same name was declared before. */
  add(name: string, start: number, end: number): Span | undefined {
    const { spans } = this;
    const place = this.place(name);
    const before = spans[place] as number;
    if (before !== -1) return { start: before, end: spans[place + 1] as number };
    spans[place] = start;
    spans[place + 1] = end;
    return undefined;
  }
}

/** Edges of one node up to which comparing each with each beats a key for each. */
const FEW_EDGES = 8;

/** Where the edges of one level were first declared. Most nodes have one or two, for which no key is made. */
export class DeclaredEdges {
  private readonly edges: readonly FlowEdge[];
  private readonly nodes: Declared;
  /** The first edge of a node by the place of its name, and behind each edge another of the same node; their indexes. */
  private readonly first: (number | undefined)[] = [];
  private readonly next: (number | undefined)[] = [];
  private readonly spans: number[] = [];
  /** Those of nodes that have many, but the first of them. */
  private readonly many = new Declared();

  /** `edges`: the list to which each edge is added next; `nodes`: the names of the level. */
  constructor(edges: readonly FlowEdge[], nodes: Declared) {
    this.edges = edges;
    this.nodes = nodes;
  }

  /** Notes an edge; answers where the same one was declared before. */
  add(from: string, port: string, to: string, start: number, end: number): Span | undefined {
    const { edges, next, spans, first } = this;
    const index = edges.length;
    const place = this.nodes.place(from) >> 1;
    let at = first[place];
    if (at === undefined) first[place] = index;
    else {
      for (let count = 1; ; count += 1) {
        const edge = edges[at] as FlowEdge;
        if (edge.to === to && edge.port === port) {
          return { start: spans[2 * at] as number, end: spans[2 * at + 1] as number };
        }
        if (count === FEW_EDGES) return this.many.add(edgeKey(from, port, to), start, end);
        const behind: number | undefined = next[at];
        if (behind === undefined) break;
        at = behind;
      }
      next[at] = index;
    }
    spans[2 * index] = start;
    spans[2 * index + 1] = end;
    return undefined;
  }
}

/** One string per (from, port, to); lengths keep names that hold separators apart. */
export function edgeKey(from: string, port: string, to: string): string {
  return `${from.length}:${from}${port.length}:${port}${to}`;
}
