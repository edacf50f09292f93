/** State that the phases of one validation share. */

import type { Diagnostic, FlowGraph } from "@millrace/contracts";
import { countMembers } from "../data.ts";
import { type Aliases, meantName } from "../diagnostics/aliases.ts";
import {
  byPlace,
  type Details,
  DiagnosticBag,
  type TextFix,
  toDiagnostic,
  writing,
} from "../diagnostics/bag.ts";
import { shown } from "../diagnostics/quote.ts";
import { DIAGNOSTICS, type DiagnosticCode } from "../diagnostics/table.ts";
import type { Span } from "../syntax/ast.ts";
import { type FlowCatalog, KnownCatalog } from "./catalog.ts";
import { followUps } from "./follow-ups.ts";
import { declared, type GraphModel, modelOf, type NodeModel } from "./model/bodies.ts";
import { Ports } from "./rules/ports.ts";
import type { SourceMap } from "./source-map.ts";

/** Most names that one validation finds suggestions for. */
const MAX_SUGGESTIONS = 200;

/** One validation. */
export class Validation {
  readonly graph: FlowGraph;
  readonly catalog: KnownCatalog;
  readonly model: GraphModel;
  readonly map: SourceMap;
  readonly #bag = new DiagnosticBag();
  readonly ports: Ports = new Ports((value) => this.isReadable(value));
  readonly #unreadable = new Set<unknown>();
  #everywhere: ReadonlyMap<string, NodeModel> | undefined;
  #connections: ReadonlyMap<string, object> | undefined;
  readonly #calls = new Map<string, readonly string[] | undefined>();
  #suggestions = MAX_SUGGESTIONS;

  constructor(graph: FlowGraph, catalog: FlowCatalog, map: SourceMap) {
    this.graph = graph;
    this.catalog = new KnownCatalog(catalog);
    this.map = map;
    this.model = modelOf(graph, this.catalog.entry);
  }

  /** The connections that the flow declares, by name; of two with one name the first. */
  get connections(): ReadonlyMap<string, object> {
    this.#connections ??= firstOfEach(
      declared(this.graph, "connections").map(({ name, value }) => [name, value as object]),
    );
    return this.#connections;
  }

  /** The calls by which another flow leads back to this one, looked for once a flow. */
  callsOf(slug: string, find: () => readonly string[] | undefined): readonly string[] | undefined {
    if (!this.#calls.has(slug)) this.#calls.set(slug, find());
    return this.#calls.get(slug);
  }

  /** The first node of an id, in whatever body. */
  anywhere(id: string): NodeModel | undefined {
    this.#everywhere ??= firstOfEach(this.model.nodes.map((node) => [node.id, node]));
    return this.#everywhere.get(id);
  }

  /**
   * Whether a value, a part of `holder`, is nested so deep that no phase may enter either. The first phase asks, the others
   * remember.
   */
  isTooDeep(value: unknown, holder: unknown = value): boolean {
    if (typeof value !== "object" || countMembers(value) !== undefined) return false;
    this.#unreadable.add(value).add(holder);
    return true;
  }

  /** Whether a value was found not to be too deep. */
  isReadable(value: unknown): boolean {
    return this.#unreadable.size === 0 || !this.#unreadable.has(value);
  }

  /** Whether one more name may be looked for; each look costs as much as there are names. */
  suggests(): boolean {
    this.#suggestions -= 1;
    return this.#suggestions >= 0;
  }

  /** The name that a misspelt one most likely stands for. */
  near(name: string, candidates: Iterable<string>, aliases: Aliases = {}): string | undefined {
    return this.suggests() ? meantName(name, candidates, aliases) : undefined;
  }

  /** The parts and the fix of a misspelt name that stands alone at `pointer`. */
  nearest(
    name: string,
    candidates: Iterable<string>,
    pointer: string,
    spelt: (near: string) => string = (near) => near,
    aliases: Aliases = {},
  ): { parts: { near: string | undefined }; fix: TextFix | undefined } {
    const near = this.near(name, candidates, aliases);
    const at = near === undefined ? undefined : this.map.exact(pointer);
    return { parts: { near }, fix: writing(near, at, near && spelt(near)) };
  }

  /** Notes a finding at a place of the graph; without one it is about `span` alone. */
  report(
    code: DiagnosticCode,
    pointer: string | undefined,
    { span, related, ...details }: PlacedDetails = {},
  ): void {
    const at = span ?? this.map.around(pointer ?? "") ?? NOWHERE;
    const other = related && this.map.around(related.pointer);
    this.#bag.add(code, at, {
      ...details,
      pointer,
      related: other && { start: other.start, end: other.end, message: related.message },
    });
  }

  /** Everything found: by offset, then code; without a text in the order in which it was found. */
  diagnostics(): Diagnostic[] {
    const { found } = this.#bag;
    // The text is read once more for the places of findings.
    if (found.length === 0) return [];
    const toRange = this.map.range;
    if (toRange === undefined) return found.map((finding) => toDiagnostic(finding, DIAGNOSTICS));
    const isFollowUp = followUps(this.map);
    const own = found.filter((finding) => !isFollowUp(finding)).sort(byPlace);
    return own.map((finding) => toDiagnostic(finding, DIAGNOSTICS, toRange));
  }
}

const NOWHERE: Span = { start: 0, end: 0 };

/** Things by their names; of several with one name the first. */
function firstOfEach<T>(named: readonly (readonly [string | undefined, T])[]): Map<string, T> {
  const first = new Map<string, T>();
  for (const [name, thing] of named) {
    if (name !== undefined && !first.has(name)) first.set(name, thing);
  }
  return first;
}

/** Details of a finding at a place of the graph. */
export interface PlacedDetails extends Omit<Details, "pointer" | "related"> {
  /** The stretch of text, when it is less than the whole place. */
  readonly span?: Span | undefined;
  /** Another place that belongs to it; shown where the text is known. */
  readonly related?: { readonly pointer: string; readonly message: string };
}

/** Names that a message lists. */
const MAX_LISTED = 50;

/** The first names of a list, as a message shows them; `more` follows where there are others. */
export function listed(names: Iterable<string>, more = ""): string {
  const first: string[] = [];
  for (const name of names) {
    if (first.length === MAX_LISTED) return first.join(", ") + more;
    first.push(shown(name));
  }
  return first.join(", ");
}
