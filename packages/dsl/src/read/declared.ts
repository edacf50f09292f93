/** What was declared while a text is read, so that a second declaration finds the first. */

import type { Span } from "../syntax/ast.ts";

/** Where things of one kind were first declared, by name; only offsets are kept, as a text may have very many. */
export class Declared {
  private readonly places = new Map<string, number>();
  private readonly spans: number[] = [];

  /** Notes a declaration; answers where the same name was declared before. */
  add(name: string, start: number, end: number): Span | undefined {
    const at = this.places.get(name);
    if (at === undefined) {
      this.places.set(name, this.spans.length);
      this.spans.push(start, end);
      return undefined;
    }
    return { start: this.spans[at] as number, end: this.spans[at + 1] as number };
  }
}

/** An edge that was declared; `next`: another of the same node. */
interface KnownEdge extends Span {
  readonly port: string;
  readonly to: string;
  next: KnownEdge | undefined;
}

/** Edges of one node up to which comparing each with each beats a key for each. */
const FEW_EDGES = 8;

/** Where the edges of one level were first declared. Most nodes have one or two, for which no key is made. */
export class DeclaredEdges {
  private readonly first = new Map<string, KnownEdge>();
  /** Those of nodes that have many, but the first of them. */
  private readonly many = new Declared();

  /** Notes an edge; answers where the same one was declared before. */
  add(from: string, port: string, to: string, { start, end }: Span): Span | undefined {
    let edge = this.first.get(from);
    if (edge === undefined) {
      this.first.set(from, { start, end, port, to, next: undefined });
      return undefined;
    }
    for (let count = 1; ; count += 1) {
      if (edge.to === to && edge.port === port) return { start: edge.start, end: edge.end };
      if (count === FEW_EDGES) return this.many.add(edgeKey(from, port, to), start, end);
      if (edge.next === undefined) break;
      edge = edge.next;
    }
    edge.next = { start, end, port, to, next: undefined };
    return undefined;
  }
}

/** One string per (from, port, to); lengths keep names that hold separators apart. */
export function edgeKey(from: string, port: string, to: string): string {
  return `${from.length}:${from}${port.length}:${port}${to}`;
}
