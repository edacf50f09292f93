/** Names: declared once, not reserved, not hidden, not mistaken for another (FLOW2005-2008, 2011, 2014, 2015). */

import { replacing } from "../../diagnostics/bag.ts";
import { shown } from "../../diagnostics/quote.ts";
import { codePointCount } from "../../expression/data.ts";
import type { Span } from "../../syntax/ast.ts";
import { type BodyModel, declared, type EdgeModel, type NodeModel } from "../model/bodies.ts";
import type { Validation } from "../validation.ts";
import { grouped } from "./order.ts";

/** Roots of the language: no node and no local may have such a name. */
export const RESERVED: ReadonlySet<string> = new Set(["inputs", "nodes", "run"]);

/** Longest node id; ids are parts of node paths in every event. */
export const MAX_ID_LENGTH = 128;

interface Named {
  readonly name: string;
  /** Place of what bears the name. */
  readonly pointer: string;
  /** Member that holds it. */
  readonly key: "name" | "id";
}

/** Checks all names of a graph. */
export function checkNames(ctx: Validation): void {
  for (const kind of ["input", "output", "connection", "schedule"]) {
    const named = declared(ctx.graph, `${kind}s`).flatMap(({ name, pointer }): Named[] =>
      name === undefined ? [] : [{ name, pointer, key: "name" }],
    );
    checkUnique(ctx, kind, named);
  }
  for (const body of ctx.model.bodies) {
    const { nodes, byId } = body;
    const plain = byId.size === nodes.length && nodes.every(({ id }) => skeleton(id) === id);
    const named = (): Named[] => nodes.map(({ id, pointer }) => ({ name: id, pointer, key: "id" }));
    if (!plain) checkUnique(ctx, "node", named());
    checkEdges(ctx, body);
    for (const node of body.nodes) checkId(ctx, node);
  }
}

function checkUnique(ctx: Validation, kind: string, named: readonly Named[]): void {
  const first = new Map<string, Named>();
  const looks = new Map<string, Named>();
  for (const it of named) {
    const same = first.get(it.name);
    if (same !== undefined) {
      ctx.report("FLOW2005", it.pointer, {
        parts: { kind, name: shown(it.name) },
        span: ctx.map.exact(`${it.pointer}/${it.key}`),
        related: { pointer: `${same.pointer}/${same.key}`, message: "first declared here" },
      });
      continue;
    }
    first.set(it.name, it);
    const look = skeleton(it.name);
    const alike = looks.get(look);
    if (alike === undefined) looks.set(look, it);
    else {
      const normal = alike.name.normalize("NFKC") === it.name.normalize("NFKC");
      const difference = normal ? "normalisation" : "similar letters";
      ctx.report("FLOW2011", it.pointer, {
        parts: { a: shown(alike.name), b: shown(it.name), difference },
        span: ctx.map.exact(`${it.pointer}/${it.key}`),
        related: { pointer: `${alike.pointer}/${alike.key}`, message: "the other one" },
      });
    }
  }
}

/** Edges by the node that they leave, so that one list of numbers tells which node was already reached from it. */
function checkEdges(ctx: Validation, { nodes, edges }: BodyModel): void {
  const [, order] = grouped(
    edges.map(({ from }) => from?.index ?? nodes.length),
    nodes.length + 1,
  );
  const lastFrom = new Int32Array(nodes.length).fill(-1);
  const lastEdge = new Int32Array(nodes.length);
  const others = new Map<string, EdgeModel>();
  for (const place of order) {
    const it = edges[place] as EdgeModel;
    const { edge, port, from, to } = it;
    if (port === "out" && from !== undefined && to !== undefined) {
      const same = edges[lastEdge[to.index] as number] as EdgeModel;
      if (lastFrom[to.index] === from.index) reportTwice(ctx, it, same);
      else lastEdge[to.index] = place;
      lastFrom[to.index] = from.index;
      continue;
    }
    const key = `${edge.from.length} ${port.length} ${edge.from}${port}${edge.to}`;
    const same = others.get(key);
    if (same === undefined) others.set(key, it);
    else reportTwice(ctx, it, same);
  }
}

function reportTwice(ctx: Validation, { edge, port, pointer }: EdgeModel, first: EdgeModel): void {
  ctx.report("FLOW2006", pointer, {
    parts: { from: shown(edge.from), port: shown(port), to: shown(edge.to) },
    related: { pointer: first.pointer, message: "first written here" },
    fix: replacing("remove it", wholeLine(ctx, pointer), ""),
  });
}

/** The line of an edge, when it stands alone on it; a part of a chain cannot be taken out. */
function wholeLine(ctx: Validation, pointer: string): Span | undefined {
  const span = ctx.map.exact(pointer);
  const { source } = ctx.map;
  if (span === undefined || source === undefined) return undefined;
  const start = source.lastIndexOf("\n", span.start - 1) + 1;
  const end = source.indexOf("\n", span.end);
  const stop = end === -1 ? source.length : end + 1;
  const alone = source.slice(start, span.start).trim() + source.slice(span.end, stop).trim() === "";
  return alone ? { start, end: stop } : undefined;
}

function checkId(ctx: Validation, node: NodeModel): void {
  const { id, body } = node;
  if (RESERVED.has(id)) ctx.report("FLOW2007", `${node.pointer}/id`, { parts: { id } });
  const isLong = id.length > MAX_ID_LENGTH && codePointCount(id) > MAX_ID_LENGTH;
  if (id === "" || isLong || /[/[\]~\p{Cc}]/u.test(id)) {
    ctx.report("FLOW2015", `${node.pointer}/id`);
  }
  if (body.locals.includes(id)) reportHidden(ctx, id, `${node.pointer}/id`);
}

/** FLOW2008: a local of a body has the name of a node. */
export function reportHidden(ctx: Validation, id: string, pointer: string): void {
  ctx.report("FLOW2008", pointer, { parts: { id: shown(id), name: shown(id) } });
}

/** Cyrillic and Greek letters that look like Latin ones in most fonts (Unicode TR39, the letters of words). */
const ALIKE: ReadonlyMap<string, string> = new Map(
  [
    ["асԁеһіјӏорԛѕхуѵԝ", "acdehijlopqsxyvw"],
    ["АВСЕНІЈКМОРЅТХУ", "ABCEHIJKMOPSTXY"],
    ["αικνορυχ", "aikvopux"],
    ["ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"],
  ].flatMap(([from = "", to = ""]) =>
    Array.from(from, (letter, at): [string, string] => [letter, to[at] ?? letter]),
  ),
);

/** A text that is the same for names that look the same: compatibility forms and similar letters are folded. */
function skeleton(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name)) return name;
  return Array.from(name.normalize("NFKC"), (letter) => ALIKE.get(letter) ?? letter)
    .join("")
    .replace(/\p{Cf}/gu, "");
}
