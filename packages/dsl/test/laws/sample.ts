/** What the laws of one seed look at, each made when first asked for and shared between the laws. */
import type { Diagnostic, FlowGraph } from "@millrace/contracts";
import {
  digest,
  formatFlow,
  normalizeGraph,
  type ParseResult,
  parseFlow,
  printFlow,
} from "@millrace/dsl";
import { decorate, shuffleItems } from "./decorate.ts";
import { anyGraph, LARGE_EVERY } from "./generate.ts";
import { Random } from "./random.ts";

/** A law that does not hold, with the text or graph that shows it; `again` checks it for another text alone. */
export class Broken extends Error {
  readonly shown: string;
  readonly again: ((text: string) => void) | undefined;

  constructor(says: string, shown: string, again?: (text: string) => void) {
    super(says);
    this.shown = shown;
    this.again = again;
  }
}

export class Sample {
  readonly seed: number;
  readonly graph: FlowGraph;
  private readonly made = new Map<string, unknown>();

  constructor(seed: number, graph: FlowGraph = anyGraph(seed)) {
    this.seed = seed;
    this.graph = graph;
  }

  get isLarge(): boolean {
    return this.seed % LARGE_EVERY === LARGE_EVERY - 1;
  }

  /** Choices of one law: the same whichever other laws are checked. */
  random(law: number): Random {
    return new Random(Math.imul(this.seed + 1, 16) + law);
  }

  /** The graph in canonical text. */
  get text(): string {
    return this.once("text", () => printFlow(this.graph));
  }

  get parsed(): ParseResult {
    return this.once("parsed", () => parseFlow(this.text));
  }

  get normal(): FlowGraph {
    return this.once("normal", () => normalizeGraph(this.graph));
  }

  get digest(): string {
    return this.once("digest", () => digest(this.graph));
  }

  /** The text with comments and empty lines, and for half of the seeds with its items in another order. */
  get decorated(): string {
    return this.once("decorated", () => {
      const r = this.random(15);
      return decorate(r.chance(0.5) ? shuffleItems(this.text, r) : this.text, r);
    });
  }

  get read(): ParseResult {
    return this.once("read", () => parseFlow(this.decorated));
  }

  /** The decorated text in canonical form. */
  get formatted(): string {
    return this.once("formatted", () => formatFlow(this.decorated).text);
  }

  get again(): ParseResult {
    return this.once("again", () => parseFlow(this.formatted));
  }

  private once<T>(name: string, make: () => T): T {
    if (!this.made.has(name)) this.made.set(name, make());
    return this.made.get(name) as T;
  }
}

/** Diagnostics of families 0 and 1. */
export function syntaxOf(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.filter(({ code }) => code < "FLOW2");
}
