/** Declarations so far, while a text is read, so that a second declaration finds the first. */

import type { FlowEdge } from "@millrace/contracts";
import type { Span } from "../syntax/ast.ts";

const NONE = -1;

/** Numbers by index, `NONE` where none was set. They are no garbage while they grow, as those of a list are. */
class Numbers {
  private all = new Int32Array(0);

  get(index: number): number {
    return index < this.all.length ? (this.all[index] as number) : NONE;
  }

  set(index: number, value: number): void {
    if (index >= this.all.length) {
      const more = new Int32Array(2 * index + 16).fill(NONE, this.all.length);
      more.set(this.all);
      this.all = more;
    }
    this.all[index] = value;
  }
}

/** Where things of one kind were first declared, by name; only offsets are kept, as a text may have very many. */
export class Declared {
  private readonly places = new Map<string, number>();
  /** At the place of each name: start and end of its declaration, if it is not only spoken of, and its first edge. */
  readonly numbers: Numbers = new Numbers();

  /** The place of a name: the same number whenever it is asked for. */
  place(name: string): number {
    const known = this.places.get(name);
    if (known !== undefined) return known;
    const place = 3 * this.places.size;
    this.places.set(name, place);
    return place;
  }

  /** Notes a declaration; answers where the same name was declared before. */
  add(name: string, start: number, end: number): Span | undefined {
    const { numbers } = this;
    const place = this.place(name);
    const before = numbers.get(place);
    if (before !== NONE) return { start: before, end: numbers.get(place + 1) };
    numbers.set(place, start);
    numbers.set(place + 1, end);
    return undefined;
  }
}

/** Edges of one node up to which comparing each with each beats a key for each. */
const FEW_EDGES = 8;

/** Where the edges of one level were first declared. Most nodes have one or two, for which no key is made. */
export class DeclaredEdges {
  private readonly edges: readonly FlowEdge[];
  private readonly nodes: Declared;
  /** Start and end of each edge, and the index of another of the same node. */
  private readonly numbers = new Numbers();
  /** Those of nodes that have many, but the first of them. */
  private readonly many = new Declared();

  /** `edges`: the list to which each edge is added next; `nodes`: the names of the level. */
  constructor(edges: readonly FlowEdge[], nodes: Declared) {
    this.edges = edges;
    this.nodes = nodes;
  }

  /** Notes an edge; answers where the same one was declared before. */
  add(from: string, port: string, to: string, start: number, end: number): Span | undefined {
    const { edges, nodes, numbers } = this;
    const index = edges.length;
    const first = nodes.place(from) + 2;
    let at = nodes.numbers.get(first);
    if (at === NONE) nodes.numbers.set(first, index);
    else {
      for (let count = 1; ; count += 1) {
        const edge = edges[at] as FlowEdge;
        if (edge.to === to && edge.port === port) {
          return { start: numbers.get(3 * at), end: numbers.get(3 * at + 1) };
        }
        if (count === FEW_EDGES) return this.many.add(edgeKey(from, port, to), start, end);
        const behind = numbers.get(3 * at + 2);
        if (behind === NONE) break;
        at = behind;
      }
      numbers.set(3 * at + 2, index);
    }
    numbers.set(3 * index, start);
    numbers.set(3 * index + 1, end);
    return undefined;
  }
}

/** One string per (from, port, to); lengths keep names that hold separators apart. */
export function edgeKey(from: string, port: string, to: string): string {
  return `${from.length}:${from}${port.length}:${port}${to}`;
}
