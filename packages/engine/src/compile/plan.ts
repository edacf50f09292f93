/** A flow ready to run: immutable, shared by all runs of it. */
import type { CatalogEntry, FlowGraph } from "@millrace/contracts";
import type { Layout } from "./layout.ts";

/** A capability of the machine that a flow uses; a host may refuse a plan whose needs it does not offer. */
export type Need = "net" | "files" | "shell" | "credentials" | "ai";

const PARTS = new WeakMap<Plan, PlanParts>();

/** The parts of a plan that the scheduler reads. */
export interface PlanParts {
  /** An object of this plan alone: a store knows the graph by it, and its text is made once. */
  readonly graph: FlowGraph;
  /** Flows that it calls, at any depth, by the text that names them. */
  readonly flows: ReadonlyMap<string, { readonly graph: FlowGraph }>;
  readonly layout: Layout;
  /** Names of the secrets that its expressions read, sorted. */
  readonly secrets: readonly string[];
  /** The flow as `run.started` shows it, with the digest of `graph` alone. */
  readonly flow: { readonly id: string; readonly title?: string; readonly hash: string };
}

/** The compiled form of one flow with its bodies and subflows. Made by `compileFlow`. */
export class Plan {
  readonly flowId: string;
  /** Digest over the graph and every subflow in it; equal digests mean equal work. */
  readonly digest: string;
  /** Nodes of the flow itself, without bodies and subflows. */
  readonly nodeCount: number;
  /** Sorted. */
  readonly needs: readonly Need[];
  /** Names that it and the flows that it calls read of `vars`, sorted; `*`: one is computed. */
  readonly vars: readonly string[];

  /** @internal */
  constructor(
    parts: PlanParts,
    identity: { digest: string; needs: readonly Need[]; vars: readonly string[] },
  ) {
    this.flowId = parts.graph.id;
    this.digest = identity.digest;
    this.nodeCount = parts.layout.size;
    this.needs = identity.needs;
    this.vars = Object.freeze(identity.vars);
    PARTS.set(this, parts);
    Object.freeze(this);
  }

  /** The catalog entry of a node's type; `undefined` for an id that the flow does not have. */
  catalogEntry(id: string): CatalogEntry | undefined {
    const { layout } = partsOf(this);
    const node = layout.index.get(id);
    return node === undefined ? undefined : layout.types[node]?.entry;
  }
}

/** The inside of a plan, for the scheduler. */
export function partsOf(plan: Plan): PlanParts {
  return PARTS.get(plan) as PlanParts;
}
