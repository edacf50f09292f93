/** What the phases of one validation share. */
import type { FlowGraph } from "@millrace/contracts";
import { countMembers, listOrNone, own } from "../data.ts";
import { type Aliases, meantName } from "../diagnostics/aliases.ts";
import { quoteForMessage } from "../syntax/chars.ts";
import { type FlowCatalog, KnownCatalog } from "./catalog.ts";
import { Findings } from "./findings.ts";
import { type GraphModel, modelOf, type NodeModel } from "./model/bodies.ts";
import { Ports } from "./rules/ports.ts";
import type { Places } from "./source-map.ts";

/** Names that one validation looks for; who misspells more has a problem that no suggestion solves. */
const MAX_SUGGESTIONS = 200;

/** One validation. */
export class Validation {
  readonly graph: FlowGraph;
  readonly catalog: KnownCatalog;
  readonly model: GraphModel;
  readonly places: Places;
  readonly findings: Findings;
  readonly ports: Ports = new Ports((value) => this.isReadable(value));
  readonly #unreadable = new Set<unknown>();
  #everywhere: Map<string, NodeModel> | undefined;
  #connections: ReadonlyMap<string, object> | undefined;
  readonly #calls = new Map<string, readonly string[] | undefined>();
  #suggestions = MAX_SUGGESTIONS;

  constructor(graph: FlowGraph, catalog: FlowCatalog, places: Places) {
    this.graph = graph;
    this.catalog = new KnownCatalog(catalog);
    this.places = places;
    this.findings = new Findings(places);
    this.model = modelOf(graph, this.catalog.entry);
  }

  /** The connections that the flow declares, by name; of two with one name the first. */
  get connections(): ReadonlyMap<string, object> {
    if (this.#connections !== undefined) return this.#connections;
    const connections = new Map<string, object>();
    for (const connection of listOrNone(own(this.graph, "connections"))) {
      const name = own(connection, "name");
      if (typeof name === "string" && !connections.has(name)) {
        connections.set(name, connection as object);
      }
    }
    this.#connections = connections;
    return connections;
  }

  /** The calls by which another flow leads back to this one, looked for once a flow. */
  callsOf(slug: string, find: () => readonly string[] | undefined): readonly string[] | undefined {
    if (!this.#calls.has(slug)) this.#calls.set(slug, find());
    return this.#calls.get(slug);
  }

  /** The first node of an id, in whatever body. */
  anywhere(id: string): NodeModel | undefined {
    if (this.#everywhere === undefined) {
      this.#everywhere = new Map();
      for (const node of this.model.nodes) {
        if (!this.#everywhere.has(node.id)) this.#everywhere.set(node.id, node);
      }
    }
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
  near(
    name: string,
    candidates: () => Iterable<string>,
    aliases: Aliases = {},
  ): string | undefined {
    return this.suggests() ? meantName(name, candidates(), aliases) : undefined;
  }

  /** The parts and the fix of a misspelt name that stands alone at `pointer`. */
  nearest(
    name: string,
    candidates: () => Iterable<string>,
    pointer: string,
    spelt: (near: string) => string = (near) => near,
    aliases: Aliases = {},
  ): { parts: { near?: string }; fix?: ReturnType<Findings["replace"]> } {
    const near = this.near(name, candidates, aliases);
    if (near === undefined) return { parts: {} };
    const fix = this.findings.replace(`write ${near}`, this.places.exact(pointer), spelt(near));
    return { parts: { near }, ...(fix && { fix }) };
  }
}

/** Names that a message lists. */
const MAX_LISTED = 50;

/** The first names of a list, as a message shows them. */
export function listed(names: Iterable<string>): string {
  const first: string[] = [];
  for (const name of names) {
    if (first.length === MAX_LISTED) break;
    first.push(shown(name));
  }
  return first.join(", ");
}

/** A name as a message shows it: cut, control characters escaped. */
export function shown(name: string): string {
  return quoteForMessage(name);
}
