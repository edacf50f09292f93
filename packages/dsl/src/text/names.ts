/** Names of blocks: each has one, and no two of a kind are alike. */
import { quoteForMessage } from "./chars.ts";
import type { MappingContext } from "./context.ts";
import type { BlockItem, Item, Label } from "./tree.ts";

/** Names that were declared, by kind, to find the ones that are declared twice. */
export class Names {
  readonly edges: Map<string, Item> = new Map();
  private readonly context: MappingContext;
  private readonly seen = new Map<string, Map<string, Label>>();

  constructor(context: MappingContext) {
    this.context = context;
  }

  /** The name of a block; `undefined`, and reported, when it has none or one too many. */
  of(item: BlockItem, pointer: string): string | undefined {
    const label = item.labels[0];
    if (!label) {
      this.context.report.add("FLOW2009", item.start, item.wordEnd, {
        parts: { kind: item.word, needs: "needs a name" },
      });
      return undefined;
    }
    const seen = this.seen.get(item.word) ?? new Map<string, Label>();
    this.seen.set(item.word, seen);
    const first = seen.get(label.text);
    if (first) {
      this.context.report.add("FLOW2005", label.start, label.end, {
        parts: { kind: item.word, name: quoteForMessage(label.text) },
        pointer,
        related: { start: first.start, end: first.end, message: "first declared here" },
      });
    } else seen.set(label.text, label);
    return label.text;
  }

  /** Reports a block that may stand only once. */
  twice(item: BlockItem, kind: string): void {
    this.context.report.add("FLOW2005", item.start, item.wordEnd, {
      message: `${kind} is declared twice`,
      hint: "keep one",
    });
  }

  /** Names in a body are its own. */
  inside(): Names {
    return new Names(this.context);
  }
}
