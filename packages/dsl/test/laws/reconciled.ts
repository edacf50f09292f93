/** L7: what `reconcile` leaves alone and what it changes. */
import { isDeepStrictEqual } from "node:util";
import type { FlowBody, FlowEdge, FlowGraph, FlowNode, JsonObject } from "@millrace/contracts";
import { normalizeGraph, parseFlow, printFlow, reconcile } from "@millrace/dsl";
import { editOne } from "./edit.ts";
import { anyGraph } from "./generate.ts";
import { commentsIn, itemsIn, layoutOf } from "./layout.ts";
import type { Random } from "./random.ts";
import { Broken, type Sample } from "./sample.ts";

/**
 * The same graph changes nothing, for every seed; of the other edits (another value, another graph, a node deleted, a node
 * renamed) every second seed takes one, since each costs as much as three other laws.
 */
export function checkReconcile(sample: Sample): void {
  const { read, formatted } = sample;
  const same = printFlow(reconcile(read.document, read.graph));
  if (same !== formatted) throw new Broken("the same graph changes the text", sample.decorated);
  const r = sample.random(7);
  if (r.chance(0.5)) return;
  r.pick([checkEdit, checkOther, checkDelete, checkDelete, checkRename, checkRename])(sample, r);
}

function checkEdit({ again, formatted }: Sample, r: Random): void {
  const edited = editOne(again.graph, r);
  const text = printFlow(reconcile(again.document, edited.graph));
  if (!isDeepStrictEqual(parseFlow(text).graph, normalizeGraph(edited.graph))) {
    throw new Broken(
      `the text does not say the edit: ${edited.what}`,
      `${formatted}\n---\n${text}`,
    );
  }
}

function checkOther({ again, seed, isLarge, formatted }: Sample): void {
  const other = anyGraph(isLarge ? seed - 1 : seed + 1);
  const text = printFlow(reconcile(again.document, other));
  if (!isDeepStrictEqual(parseFlow(text).graph, normalizeGraph(other))) {
    throw new Broken("the text does not say the other graph", `${formatted}\n---\n${text}`);
  }
}

/** A node somewhere in the graph that no other of its body shares the id with, and the ids of those around it. */
interface Chosen {
  readonly owners: readonly FlowNode[];
  readonly holder: FlowBody;
  readonly node: FlowNode;
}

function choose(graph: FlowGraph, r: Random): Chosen | undefined {
  const owners: FlowNode[] = [];
  let holder: FlowBody = graph;
  for (;;) {
    const ids = new Set<string>();
    const shared = new Set<string>();
    for (const { id } of holder.nodes) (ids.has(id) ? shared : ids).add(id);
    const single = holder.nodes.filter(({ id }) => !shared.has(id) && /^[^/]+$/.test(id));
    if (single.length === 0) return undefined;
    const node = r.pick(single);
    if (!node.body || r.chance(0.3)) return { owners, holder, node };
    if (node.body.nodes.length === 0) return { owners, holder, node };
    owners.push(node);
    holder = node.body;
  }
}

/** The graph with the body around the chosen node put in place of what it was. */
function replace(graph: FlowGraph, { owners }: Chosen, body: FlowBody): FlowGraph {
  let made = body;
  for (let depth = owners.length - 1; depth >= 0; depth -= 1) {
    const owner = owners[depth] as FlowNode;
    const around = depth === 0 ? graph : (owners[depth - 1]?.body as FlowBody);
    const nodes = around.nodes.map((node) => (node === owner ? { ...owner, body: made } : node));
    made = { ...around, nodes };
  }
  return made as FlowGraph;
}

function names(edge: FlowEdge, id: string): boolean {
  return edge.from === id || edge.to === id;
}

/** The lines of the node, of its comments and of the edges at it go; all others stay. */
function checkDelete({ again, formatted }: Sample, r: Random): void {
  const chosen = choose(again.graph, r);
  if (!chosen) return;
  const { holder, node, owners } = chosen;
  const nodes = holder.nodes.filter((other) => other !== node);
  const edges = holder.edges.filter((edge) => !names(edge, node.id));
  // A block that becomes empty loses its braces.
  if (nodes.length + edges.length === 0 && holder.output === undefined) return;
  const next = replace(again.graph, chosen, { ...holder, nodes, edges });
  const text = printFlow(reconcile(again.document, next));

  const layout = layoutOf(formatted);
  let items = itemsIn(formatted, layout);
  let first = 1 + countBefore(again.graph);
  let around: FlowBody = again.graph;
  for (const [depth, owner] of owners.entries()) {
    const { start, end } = items[first + around.nodes.indexOf(owner)] as {
      start: number;
      end: number;
    };
    const inner = itemsIn(formatted, layout, {
      depth: 2 * depth + 1,
      from: start + 1,
      to: end - 1,
    });
    const body = inner.at(-1) as { start: number; end: number };
    items = itemsIn(formatted, layout, {
      depth: 2 * depth + 2,
      from: body.start + 1,
      to: body.end - 1,
    });
    first = 0;
    around = owner.body as FlowBody;
  }
  const gone = new Set<number>();
  const goes = [
    ...holder.nodes.map((other) => other === node),
    ...holder.edges.map((edge) => names(edge, node.id)),
  ];
  for (const [at, is] of goes.entries()) {
    const item = items[first + at];
    for (let line = item?.lead ?? 0; is && line < (item?.end ?? 0); line += 1) gone.add(line);
  }
  const kept = formatted.split("\n").filter((line, at) => line.trim() !== "" && !gone.has(at));
  const found = text.split("\n").filter((line) => line.trim() !== "");
  if (!isDeepStrictEqual(found, kept)) {
    throw new Broken(
      `deleting node ${JSON.stringify(node.id)} takes more or less than its lines`,
      `${formatted}\n--- became\n${text}`,
    );
  }
}

function countBefore(graph: FlowGraph): number {
  return graph.inputs.length + graph.connections.length + graph.schedules.length;
}

/** A renamed node keeps its comments, and renamed back it is as it was. */
function checkRename({ again, formatted }: Sample, r: Random): void {
  const chosen = choose(again.graph, r);
  if (!chosen) return;
  const { holder, node, owners } = chosen;
  const id = `${node.id} renamed`;
  const around = owners.map((owner) => `${owner.id}/`).join("");
  const [from, to] = [around + node.id, around + id];
  const rename = (end: string): string => (end === node.id ? id : end);
  const body = {
    ...holder,
    nodes: holder.nodes.map((other) => (other === node ? { ...node, id } : other)),
    edges: holder.edges.map((edge) => ({ ...edge, from: rename(edge.from), to: rename(edge.to) })),
  };
  const layout: JsonObject = Object.fromEntries(
    Object.entries(again.graph.layout).map(([path, place]) => [
      path === from || path.startsWith(`${from}/`) ? to + path.slice(from.length) : path,
      place,
    ]),
  );
  const next = { ...replace(again.graph, chosen, body), layout };
  const text = printFlow(reconcile(again.document, next, { renames: { [from]: to } }));
  const renamed = parseFlow(text);
  const shown = `${formatted}\n--- ${JSON.stringify(from)} became\n${text}`;
  if (!isDeepStrictEqual(renamed.graph, normalizeGraph(next))) {
    throw new Broken("the text does not say the new name", shown);
  }
  if (!isDeepStrictEqual(commentsIn(text), commentsIn(formatted))) {
    throw new Broken("a renamed node loses or moves comments", shown);
  }
  const back = reconcile(renamed.document, again.graph, { renames: { [to]: from } });
  if (printFlow(back) !== formatted) throw new Broken("renamed back it is another text", shown);
}
