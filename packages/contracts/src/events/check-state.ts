/** State of a log check. It does not use the fold, so a mistake of the fold cannot hide one of the log. */
import type { FlowBody, FlowGraph, FlowNode } from "../schemas/graph.ts";
import { enclosingAttempt, enclosingNode } from "./path.ts";
import { type Growing, NO_COUNTS, NO_USAGE } from "./sums.ts";
import type { AnyEvent, Counts, RunStarted, SummaryUsage } from "./types.ts";
import type { NodeState, RunState } from "./view-parts.ts";

/** The name of an invariant. @see the events page, "Invariants" */
export type Invariant = `I${Digit | 10 | 11 | 12 | 13 | 14 | 15 | 16 | 17 | 18 | 19}`;
type Digit = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

/** One thing that a log may not do. `seq` is that of the event at which it shows. */
export interface Violation {
  readonly seq: number;
  readonly invariant: Invariant;
  readonly message: string;
}

/** Data that makes more checks possible. */
export interface CheckOptions {
  /** The flow that ran: adds I4 and the second half of I9. */
  readonly graph?: FlowGraph;
  /** Implied edges, as `impliedEdges(graph)` of the language returns them; without them I4 knows written edges only. */
  readonly implied?: readonly ImpliedEdge[];
  /** Adds I11. Those shorter than 6 units are not looked for. */
  readonly secrets?: readonly string[];
  /** The run goes on: a log without a summary is legal as far as it goes. Default false. */
  readonly unfinished?: boolean;
}

/** One node of the log. */
export interface NodeRecord {
  readonly path: string;
  state: NodeState;
  attempt: number;
  type: string;
  startedAt: number;
  /** Whether `startedAt` can be counted from: false after a step that was none. */
  isTimed: boolean;
  /** Earliest legal start of the next attempt. */
  dueAt: number;
  readonly isInBody: boolean;
  readonly parent: NodeRecord | undefined;
  /** The attempt of `parent` that this node belongs to. */
  readonly parentAttempt: number;
  /** Open body nodes of the current attempt. */
  openChildren: number;
  /** Open calls and confirmations. */
  openCalls: number;
  waitingOn: string | undefined;
  done: number;
  /** Finished model calls since the last one was started: those that may be rejected. */
  rejectable: readonly string[];
  ports: readonly string[] | undefined;
  routed: string | undefined;
  /** Its neighbours in `OpenNodes`. */
  previous: NodeRecord | null;
  next: NodeRecord | null;
}

/** The nodes that have not ended, in order of appearance. A list through the records: most are in it for two events. */
export class OpenNodes {
  #first: NodeRecord | null = null;
  #last: NodeRecord | null = null;

  add(node: NodeRecord): void {
    node.previous = this.#last;
    if (this.#last === null) this.#first = node;
    else this.#last.next = node;
    this.#last = node;
  }

  /** Takes a node out; one that is not in it stays out. */
  delete(node: NodeRecord): void {
    const { previous, next } = node;
    if (previous === null && this.#first !== node) return;
    if (previous === null) this.#first = next;
    else previous.next = next;
    if (next === null) this.#last = previous;
    else next.previous = previous;
    node.previous = null;
    node.next = null;
  }

  /** The one that was left last may be taken out meanwhile. */
  *[Symbol.iterator](): Generator<NodeRecord> {
    for (let node = this.#first; node !== null; ) {
      const { next } = node;
      yield node;
      node = next;
    }
  }
}

/** A call or confirmation that was opened; `isOpen` false: it was closed, its id is taken. */
export interface CallRecord {
  readonly id: string;
  readonly kind: "llm" | "tool" | "confirmation";
  readonly node: NodeRecord;
  readonly attempt: number;
  isOpen: boolean;
  /** Units of each channel so far. */
  readonly lengths: Map<string, number>;
}

/** The event that a pause must have next: an answer, `run.resumed` after the answer, `run.resumed` after a crash. */
type Expectation = "answer" | "resume" | "recovery";

/** Books of a check. */
export interface CheckState {
  readonly options: CheckOptions;
  /** The graph's edges by scope, when there is a graph. */
  readonly scope: Scope | undefined;
  readonly violations: Violation[];
  run: RunState;
  started: RunStarted | undefined;
  pauseReason: string | undefined;
  cancelReason: string | undefined;
  expects: Expectation | undefined;
  /** With the graph: the run can do nothing but ask, so it must say that it is paused. */
  mustPause: boolean;
  readonly nodes: Map<string, NodeRecord>;
  readonly openNodes: OpenNodes;
  readonly calls: Map<string, CallRecord>;
  readonly confirmations: Map<string, CallRecord>;
  readonly openConfirmations: Set<CallRecord>;
  firstFailure: string | undefined;
  readonly counts: Growing<Counts>;
  readonly bodyCounts: Growing<Counts>;
  readonly usage: Growing<SummaryUsage>;
  costUsd: number | null;
}

/** The state of a check before the first event of a log. */
export function createState(options: CheckOptions): CheckState {
  return {
    options,
    scope: options.graph && scopeOf(options.graph, options.implied ?? []),
    violations: [],
    run: "pending",
    started: undefined,
    pauseReason: undefined,
    cancelReason: undefined,
    expects: undefined,
    mustPause: false,
    nodes: new Map(),
    openNodes: new OpenNodes(),
    calls: new Map(),
    confirmations: new Map(),
    openConfirmations: new Set(),
    firstFailure: undefined,
    counts: { ...NO_COUNTS },
    bodyCounts: { ...NO_COUNTS },
    usage: { ...NO_USAGE },
    costUsd: 0,
  };
}

/**
 * Notes a violation, at most one for each event: what an event breaks first is the cause, the rest follows from it. Only a
 * summary, whose statements are independent, may break several.
 */
export function report(
  state: CheckState,
  event: Pick<AnyEvent, "seq" | "kind">,
  invariant: Invariant,
  message: string,
): void {
  const { violations } = state;
  if (event.kind !== "summary" && violations.at(-1)?.seq === event.seq) return;
  violations.push({ seq: event.seq, invariant, message });
}

const NONE: readonly string[] = [];

/** The record of a node that appears now. */
export function appear(state: CheckState, path: string): NodeRecord {
  const isInBody = path.includes("/");
  const around = isInBody ? enclosingNode(path) : undefined;
  const node: NodeRecord = {
    path,
    state: "pending",
    attempt: 1,
    type: "",
    startedAt: 0,
    isTimed: true,
    dueAt: 0,
    isInBody,
    parent: around === undefined ? undefined : state.nodes.get(around),
    parentAttempt: around === undefined ? 1 : enclosingAttempt(path),
    openChildren: 0,
    openCalls: 0,
    waitingOn: undefined,
    done: -1,
    rejectable: NONE,
    ports: undefined,
    routed: undefined,
    previous: null,
    next: null,
  };
  state.nodes.set(path, node);
  state.openNodes.add(node);
  if (node.parent !== undefined) node.parent.openChildren += 1;
  return node;
}

/**
 * The node `to` reads the node `from`; both as ids joined by `/` from the flow inwards. A reader inside a body that reads a
 * node outside of it makes the node around it wait, the one beside `from`.
 */
export interface ImpliedEdge {
  readonly from: string;
  readonly to: string;
}

/** The dependencies of a node. */
export interface Waits {
  readonly edges: { readonly from: string; readonly port: string }[];
  /** Nodes beside it that it, or its body, reads. */
  readonly reads: { readonly from: string }[];
  /** True when not all written edges must be resolved. */
  readonly isEarly: boolean;
}

/** One level of nodes. */
export interface Scope {
  readonly nodes: ReadonlyMap<string, Waits>;
  readonly bodies: ReadonlyMap<string, Scope>;
}

/** The scopes of a graph. An implied edge whose ends are not found in it is left out. */
function scopeOf(graph: FlowGraph, implied: readonly ImpliedEdge[]): Scope {
  const scope = buildScope(graph.nodes, graph.edges);
  for (const edge of implied) addRead(scope, edge);
  return scope;
}

/** The dependencies of the node at `path`; `undefined` where the graph does not hold them, as inside a subflow. */
export function waitsOf(scope: Scope, path: string): Waits | undefined {
  const segments = path.split("/");
  let at: Scope | undefined = scope;
  for (const segment of segments.slice(0, -1)) at = at?.bodies.get(idOf(segment));
  return at?.nodes.get(segments.at(-1) ?? "");
}

/** The path of the node `id` in the scope of `path`. */
export function pathBeside(path: string, id: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1) + id;
}

/** Edges and ports that a graph leaves out are none, and `out`. */
function buildScope(nodes: readonly FlowNode[], edges: FlowBody["edges"] = []): Scope {
  const waits = new Map<string, Waits>();
  const bodies = new Map<string, Scope>();
  for (const { id, policy, body } of nodes) {
    const isEarly = policy?.join === "any" || typeof policy?.join === "number";
    waits.set(id, { edges: [], reads: [], isEarly });
    if (body !== undefined) bodies.set(id, buildScope(body.nodes, body.edges));
  }
  for (const { from, port = "out", to } of edges) waits.get(to)?.edges.push({ from, port });
  return { nodes: waits, bodies };
}

function addRead(scope: Scope, { from, to }: ImpliedEdge): void {
  const source = from.split("/");
  const waiting = to.split("/").slice(0, source.length).join("/");
  waitsOf(scope, waiting)?.reads.push({ from: source.at(-1) as string });
}

function idOf(segment: string): string {
  const end = segment.search(/[~[]/);
  return end < 0 ? segment : segment.slice(0, end);
}
