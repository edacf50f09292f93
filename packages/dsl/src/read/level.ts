/** Names of blocks: each has one, and no two of a kind are alike. */

import type { FlowEdge, FlowNode } from "@millrace/contracts";
import { shown } from "../diagnostics/quote.ts";
import type { BlockItem } from "../language/items.ts";
import type { MappingContext } from "./mapping-context.ts";

/** Where things of one kind were first declared, by name; only offsets are kept, as a text may have very many. */
export class Declared {
  private readonly places = new Map<string, number>();
  private readonly spans: number[] = [];

  /** Notes a declaration; answers where the same name was declared before. */
  add(name: string, start: number, end: number): { start: number; end: number } | undefined {
    const at = this.places.get(name);
    if (at === undefined) {
      this.places.set(name, this.spans.length);
      this.spans.push(start, end);
      return undefined;
    }
    return { start: this.spans[at] as number, end: this.spans[at + 1] as number };
  }
}

/** The nodes and edges of the flow or of a body while they are read, with the names that were declared there. */
export class Level {
  readonly nodes: FlowNode[] = [];
  readonly edges: FlowEdge[] = [];
  /** JSON Pointer of the object that holds `nodes` and `edges`. */
  readonly pointer: string;
  readonly knownEdges: Declared = new Declared();
  private readonly context: MappingContext;
  private readonly blocks = new Map<string, Declared>();

  constructor(context: MappingContext, pointer: string) {
    this.context = context;
    this.pointer = pointer;
  }

  /** The name of a block; `undefined`, and reported, when it has none or one too many. */
  nameOf(item: BlockItem, pointer: string): string | undefined {
    const label = item.labels[0];
    if (!label) {
      this.context.report.add("FLOW2009", item.start, item.keywordEnd, {
        parts: { kind: item.keyword, needs: "needs a name" },
      });
      return undefined;
    }
    let declared = this.blocks.get(item.keyword);
    if (!declared) {
      declared = new Declared();
      this.blocks.set(item.keyword, declared);
    }
    const first = declared.add(label.text, label.start, label.end);
    if (first) {
      this.context.report.add("FLOW2005", label.start, label.end, {
        parts: { kind: item.keyword, name: shown(label.text) },
        pointer,
        related: { ...first, message: "first declared here" },
      });
    }
    return label.text;
  }

  /** Reports a block that may stand only once. */
  twice(item: BlockItem, kind: string): void {
    this.context.report.add("FLOW2005", item.start, item.keywordEnd, {
      message: `${kind} is declared twice`,
      hint: "keep one",
    });
  }
}
