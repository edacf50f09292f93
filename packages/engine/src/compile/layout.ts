/**
 * One level of a flow as flat arrays: the flow itself, a body, a subflow. Shared by every frame that runs it.
 *   Targets 0 … size-1 are nodes in author order, size … size+outputs.length-1 are outputs, which wait and read like nodes.
 *   What leaves node i is one run of `outTo`/`outPort`, sorted by target: an edge carries its port, a reference `BY_REFERENCE`.
 */
import type {
  FieldValue,
  FlowConnection,
  FlowEdge,
  FlowGraph,
  FlowInput,
  FlowNode,
  FlowOutput,
  JsonSchema,
} from "@millrace/contracts";
import type { Limits } from "../limits.ts";
import type { FlowTool, NodeTools, NodeType } from "../node-type.ts";
import type { Registry } from "../registry.ts";
import { type FastType, fastTypeOf } from "./fast.ts";
import { compileFields, type FieldSet } from "./fields.ts";
import type { Names, OutsideNames, Read } from "./names.ts";
import { compilePolicy, type NodePolicy, policyReads } from "./policy.ts";
import { actionOf, flowOf, toolRefs } from "./tools.ts";
import { Value } from "./value.ts";

/** Port of an entry of `outPort` that is a reference. */
export const BY_REFERENCE = -1;

/** Join policies as numbers; n > 0 is n live edges. */
export const JOIN_DEFAULT = 0;
export const JOIN_ALL = -1;

/** Ports that every node has, at these places in its list. */
export const PORT_OUT = 0;
export const PORT_ERROR = 1;
const COMMON_PORTS: readonly string[] = ["out", "error"];

/** An output of a flow. */
export interface LayoutOutput {
  readonly name: string;
  readonly value: Value;
  readonly schema: JsonSchema | undefined;
}

/** The tools of a node, each flow with its layout. */
export interface LayoutTools extends NodeTools {
  readonly flows: ReadonlyMap<string, FlowTool & { readonly layout: Layout }>;
}

export interface Layout {
  readonly flowId: string;
  readonly size: number;
  readonly ids: readonly string[];
  readonly index: ReadonlyMap<string, number>;
  readonly types: readonly NodeType[];
  /** Type as the flow writes it, with its version: `acme.x@2`. */
  readonly typeNames: readonly string[];
  readonly fields: readonly FieldSet[];
  readonly policies: readonly NodePolicy[];
  /** Null: the node takes the slow lane. */
  readonly fast: readonly (FastType | null)[];
  /** Ports of a node that have an edge, after `out` and `error`. */
  readonly ports: readonly (readonly string[])[];
  readonly outOff: Int32Array;
  readonly outTo: Int32Array;
  readonly outPort: Int32Array;
  readonly inEdges: Int32Array;
  readonly join: Int32Array;
  /** Nodes of this level that a target reads, itself or through its body; without repeats. */
  readonly readOff: Int32Array;
  readonly readTo: Int32Array;
  /** Reads whose absence skips the node or drops the output. */
  readonly required: readonly (readonly Read[])[];
  /** Counters of a fresh frame, `COUNTERS` of each target together: see `EDGES_LEFT` and those after it. */
  readonly counters: readonly number[];
  /** Targets that wait for nothing. */
  readonly roots: Int32Array;
  /** Layout of the body or subflow of a node. */
  readonly bodies: readonly (Layout | null)[];
  /** Flows and actions that a node has as tools. */
  readonly tools: readonly (LayoutTools | null)[];
  readonly bodyOutput: Value | null;
  /** Reads of `bodyOutput` whose absence makes it null. */
  readonly bodyOutputRequired: readonly Read[];
  readonly outputs: readonly LayoutOutput[];
  /** Inputs of a flow; empty for a body. */
  readonly inputs: readonly FlowInput[];
  /** Of the flow that the level belongs to. */
  readonly connections: readonly FlowConnection[];
  /** Nodes as written, for hashes. */
  readonly nodes: readonly FlowNode[];
  readonly locals: readonly string[];
  /** UTF-16 units of the longest id, for the limit on paths. */
  readonly longestId: number;
}

/** How many counters a target has; together, because what looks at one of them looks at the others. */
export const COUNTERS = 5;
/** Places in the counters of a target. */
export const EDGES_LEFT = 0;
export const READS_LEFT = 1;
export const LIVE_EDGES = 2;
export const READERS_LEFT = 3;
/** State and attempt of a node. */
export const STATUS = 4;

/** One level to lay out. */
export interface Level {
  readonly flowId: string;
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  readonly outputs: readonly FlowOutput[];
  readonly inputs: Layout["inputs"];
  readonly connections: readonly FlowConnection[];
  readonly output?: FieldValue | undefined;
  readonly locals: readonly string[];
}

export interface LayoutOptions {
  readonly registry: Registry;
  readonly limits: Limits;
  readonly outside: OutsideNames;
  /** A flow that a node names, laid out. */
  readonly flow: (text: string) => { readonly layout: Layout; readonly graph: FlowGraph } | null;
}

/** A layout, and the reads of nodes outside it. `up` counts from the level above. */
export interface LaidOut {
  readonly layout: Layout;
  readonly outer: readonly Read[];
  /** Those of the body's `output`, which its owner does. */
  readonly outputReads: readonly Read[];
}

/** Lays out a validated level with its bodies. Recursion follows bodies, which are at most `limits.depth` deep. */
export function layOut(level: Level, outer: Names | null, options: LayoutOptions): LaidOut {
  const { nodes, edges } = level;
  const size = nodes.length;
  const index = new Map(nodes.map((node, i) => [node.id, i]));
  const names: Names = { locals: new Set(level.locals), nodes: index, outer };
  const values = { names, limits: options.limits, outside: options.outside };
  const ports = portLists(size, edges, index);
  const types = nodes.map((node) => options.registry.require(node.type, node.typeVersion));

  const fields: FieldSet[] = [];
  const policies: NodePolicy[] = [];
  const bodies: (Layout | null)[] = [];
  const reads: Read[][] = []; // per target, its own; the output of a body is read by its owner
  const through: (readonly Read[])[] = []; // per node, those of its body
  const withErrorEdge = new Set(edges.filter(({ port }) => port === "error").map((e) => e.from));
  const plain = { ...values, errorEdge: false };
  const guarded = { ...values, errorEdge: true };
  for (const [i, node] of nodes.entries()) {
    const type = types[i] as NodeType;
    const set = compileFields(node, type, values);
    const policy = compilePolicy(node, type, withErrorEdge.has(node.id) ? guarded : plain);
    const body = bodyOf(node, names, level, options);
    fields.push(set);
    policies.push(policy);
    bodies.push(body?.layout ?? subflowOf(node, options));
    const own = [...set.reads, ...policyReads(policy), ...(body?.outputReads ?? [])];
    reads.push(own.filter((read) => read.up > 0 || read.node !== i)); // `until` may read its own loop
    through.push(body?.outer ?? []);
  }
  const outputs = level.outputs.map(({ name, value, schema }) => ({
    name,
    schema,
    value: new Value(value, values),
  }));
  for (const { value } of outputs) reads.push([...value.reads]);
  const bodyOutput = level.output === undefined ? null : new Value(level.output, values);

  const all = reads.map((own, i) => (through[i]?.length ? [...own, ...through[i]] : own));
  const local = all.map((list) => unique(list.filter(({ up }) => up === 0).map((r) => r.node)));
  const bodyReads = bodyOutput?.reads ?? [];
  const wiring = wire(size, edges, { index, ports, local });
  const join = new Int32Array(size);
  for (const [i, node] of nodes.entries()) join[i] = joinOf(node);
  const counters = countersOf(size + outputs.length, { ...wiring, local });
  for (const { up, node } of bodyReads) {
    if (up === 0) add(counters, COUNTERS * node + READERS_LEFT, 1); // held until the round has ended
  }
  const layout: Layout = {
    flowId: level.flowId,
    size,
    ids: nodes.map((node) => node.id),
    index,
    types,
    typeNames: nodes.map(typeName),
    fields,
    policies,
    fast: policies.map((policy, i) => fastTypeOf(types[i] as NodeType, policy)),
    ports,
    ...wiring,
    join,
    ...flatten(local),
    required: reads.map(requiredOf),
    counters,
    roots: rootsOf(counters),
    bodies,
    tools: nodes.map((node) => toolsOf(node, options)),
    bodyOutput,
    bodyOutputRequired: requiredOf(bodyReads),
    outputs,
    inputs: level.inputs,
    connections: level.connections,
    nodes,
    locals: level.locals,
    longestId: nodes.reduce((longest, { id }) => Math.max(longest, id.length), 0),
  };
  return { layout, outer: beyond(all.flat()), outputReads: beyond(bodyReads) };
}

/** Reads of nodes outside a level, as the level above sees them. */
function beyond(reads: readonly Read[]): Read[] {
  return reads.filter(({ up }) => up > 0).map((read) => ({ ...read, up: read.up - 1 }));
}

function subflowOf(node: FlowNode, { flow }: LayoutOptions): Layout | null {
  const text = node.fields["flow"];
  return node.type === "subflow" && typeof text === "string" ? (flow(text)?.layout ?? null) : null;
}

/** The tools of a node that the flow alone decides: flows and actions. Null: it has no tools. */
function toolsOf(node: FlowNode, { registry, flow }: LayoutOptions): LayoutTools | null {
  const refs = toolRefs(node);
  if (refs.length === 0) return null;
  const flows = new Map<string, FlowTool & { readonly layout: Layout }>();
  const actions = new Map<string, NodeType>();
  for (const { ref } of refs) {
    const called = flowOf(ref);
    const found = called === undefined ? null : flow(called);
    if (called !== undefined && found !== null) {
      const { layout, graph } = found;
      flows.set(called, { layout, title: graph.title, inputs: graph.inputs });
    }
    const action = actionOf(ref);
    const type = action === undefined ? undefined : registry.get(action);
    if (action !== undefined && type !== undefined) actions.set(action, type);
  }
  return { flows, actions };
}

function bodyOf(
  node: FlowNode,
  names: Names,
  level: Level,
  options: LayoutOptions,
): LaidOut | null {
  if (node.body === undefined) return null;
  const { nodes, edges, output } = node.body;
  const inner: Level = {
    flowId: level.flowId,
    nodes,
    edges,
    outputs: [],
    inputs: [],
    connections: level.connections,
    output,
    locals: [localName(node), "index"],
  };
  return layOut(inner, names, options);
}

/** Name under which the body of a node sees its item or state. */
export function localName(node: FlowNode): string {
  const own = node.fields["as"];
  if (typeof own === "string") return own;
  return node.type === "loop" ? "state" : "item";
}

function typeName(node: FlowNode): string {
  return node.typeVersion === undefined ? node.type : `${node.type}@${node.typeVersion}`;
}

function joinOf(node: FlowNode): number {
  const join = node.policy?.join;
  if (join === "any") return 1;
  if (join === "all") return JOIN_ALL;
  return join ?? JOIN_DEFAULT;
}

function portLists(
  size: number,
  edges: readonly FlowEdge[],
  index: ReadonlyMap<string, number>,
): (readonly string[])[] {
  const ports: (readonly string[])[] = new Array(size).fill(COMMON_PORTS);
  for (const { from, port } of edges) {
    const i = index.get(from) as number;
    const list = ports[i] as readonly string[];
    if (!list.includes(port)) ports[i] = [...list, port];
  }
  return ports;
}

/** Edges and references as one list per node, sorted by target. */
function wire(
  size: number,
  edges: readonly FlowEdge[],
  parts: {
    index: ReadonlyMap<string, number>;
    ports: readonly (readonly string[])[];
    local: readonly (readonly number[])[];
  },
): Pick<Layout, "outOff" | "outTo" | "outPort" | "inEdges"> {
  const { index, ports, local } = parts;
  const leaving = Array.from({ length: size }, (): { to: number; port: number }[] => []);
  const inEdges = new Int32Array(size);
  for (const { from, port, to } of edges) {
    const source = index.get(from) as number;
    const target = index.get(to) as number;
    leaving[source]?.push({ to: target, port: ports[source]?.indexOf(port) ?? PORT_OUT });
    add(inEdges, target, 1);
  }
  for (const [reader, sources] of local.entries()) {
    for (const source of sources) leaving[source]?.push({ to: reader, port: BY_REFERENCE });
  }
  for (const list of leaving) if (list.length > 1) list.sort((a, b) => a.to - b.to);
  const outOff = offsets(leaving);
  const flat = leaving.flat();
  return {
    outOff,
    outTo: Int32Array.from(flat.map(({ to }) => to)),
    outPort: Int32Array.from(flat.map(({ port }) => port)),
    inEdges,
  };
}

function countersOf(
  targets: number,
  parts: { inEdges: Int32Array; local: readonly (readonly number[])[] },
): number[] {
  const counters: number[] = [];
  while (counters.length < COUNTERS * targets) counters.push(0); // a list without holes is the fastest
  for (const [node, edges] of parts.inEdges.entries()) {
    counters[COUNTERS * node + EDGES_LEFT] = edges;
  }
  for (const [reader, sources] of parts.local.entries()) {
    counters[COUNTERS * reader + READS_LEFT] = sources.length;
    for (const source of sources) add(counters, COUNTERS * source + READERS_LEFT, 1);
  }
  return counters;
}

function rootsOf(counters: readonly number[]): Int32Array {
  const roots: number[] = [];
  for (let at = 0; at < counters.length; at += COUNTERS) {
    if (counters[at + EDGES_LEFT] === 0 && counters[at + READS_LEFT] === 0)
      roots.push(at / COUNTERS);
  }
  return Int32Array.from(roots);
}

function flatten(lists: readonly (readonly number[])[]): Pick<Layout, "readOff" | "readTo"> {
  return { readOff: offsets(lists), readTo: Int32Array.from(lists.flat()) };
}

function offsets(lists: readonly (readonly unknown[])[]): Int32Array {
  const off = new Int32Array(lists.length + 1);
  for (const [i, list] of lists.entries()) off[i + 1] = (off[i] as number) + list.length;
  return off;
}

const NOTHING_REQUIRED: readonly Read[] = [];

function requiredOf(reads: readonly Read[]): readonly Read[] {
  if (reads.length === 0) return NOTHING_REQUIRED;
  const required = reads.filter(({ optional }) => !optional);
  if (required.length === 0) return NOTHING_REQUIRED;
  const seen = new Map(required.map((r) => [`${r.up} ${r.node} ${r.error}`, r]));
  return [...seen.values()];
}

function unique(list: readonly number[]): readonly number[] {
  return list.length < 2 ? list : [...new Set(list)];
}

function add(array: Int32Array | number[], at: number, by: number): void {
  array[at] = (array[at] as number) + by;
}

/** Ports by which a node may leave: those of its type, and those that the flow gives edges. */
export function portsOf(layout: Layout, node: number): readonly string[] {
  const named = layout.types[node]?.entry.ports.map(({ name }) => name) ?? [];
  const own = named.length === 0 ? ["out"] : named;
  return [...new Set([...own, ...(layout.ports[node] ?? [])])];
}
