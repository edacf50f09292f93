/**
 * Whether a value has the shape of a graph at all. Graphs also come from programs, models and stores; whatever they hold,
 * the other phases skip what is reported here.
 */
import { type JsonObject, MAX_JSON_DEPTH } from "@millrace/contracts/json";
import { memberNames, pointerSegment } from "@millrace/contracts/kit";
import { isObject, listOrNone, objectOrNone, own } from "../../data.ts";
import { shown } from "../../diagnostics/quote.ts";
import { typeName } from "../../schema/json-kinds.ts";
import { declared } from "../model/bodies.ts";
import type { Validation } from "../validation.ts";

type Kind = "string" | "list" | "object";

const WORDS: { readonly [kind in Kind]: string } = {
  string: "a string",
  list: "a list",
  object: "an object",
};

/** Members of an object of a graph, in the order in which they are checked. */
type Members = readonly (readonly [key: string, kind: Kind, mayBeAbsent?: "absent"])[];

const GRAPH: Members = [
  ["title", "string", "absent"],
  ["meta", "object", "absent"],
  ["policy", "object", "absent"],
  ["layout", "object"],
];
const NAMED: Members = [["name", "string"]];
const LISTS: { readonly [list: string]: Members } = {
  inputs: NAMED,
  outputs: NAMED,
  connections: [...NAMED, ["auth", "string"]],
  schedules: NAMED,
};
const NODE: Members = [
  ["id", "string"],
  ["type", "string"],
  ["fields", "object"],
];
const NODE_PARTS: Members = [
  ["policy", "object", "absent"],
  ["body", "object", "absent"],
];
const EDGE: Members = [
  ["from", "string"],
  ["port", "string"],
  ["to", "string"],
];

const ROOT = (): string => "";

/** Reports FLOW1006 for what is not of a graph's shape, FLOW0003 for its version, FLOW1014 for values nested too deep. */
export function checkShape(ctx: Validation): void {
  const { graph } = ctx;
  if (!isObject(graph)) {
    expected(ctx, "", "a graph", graph);
    return;
  }
  const version = own(graph, "version");
  if (version !== 1) {
    const found = typeof version === "number" ? version : describe(version);
    ctx.report("FLOW0003", "/version", { parts: { found } });
  }
  is(ctx, graph, ROOT, "id", "string");
  for (const { value, pointer, holder } of flowMembers(graph)) {
    if (ctx.isTooDeep(value, holder)) tooDeep(ctx, pointer);
  }
  has(ctx, graph, ROOT, GRAPH);
  for (const [list, members] of Object.entries(LISTS)) {
    if (!is(ctx, graph, ROOT, list, "list")) continue;
    for (const { value, pointer } of declared(graph, list)) {
      if (!isObject(value)) expected(ctx, pointer, WORDS.object, value);
      else has(ctx, value, () => pointer, members);
    }
  }
  checkBodies(ctx);
}

/** A value of a flow that is no node and no edge. */
export interface FlowMember {
  readonly value: unknown;
  readonly holder: unknown;
  readonly pointer: string;
  readonly name: string;
}

/** The members of a flow beside nodes and edges; of inputs, outputs, connections and schedules their members, too. */
export function* flowMembers(graph: JsonObject): Generator<FlowMember> {
  for (const list of memberNames(graph)) {
    if (list === "nodes" || list === "edges") continue;
    const value = own(graph, list);
    if (!Array.isArray(value))
      yield { value, holder: value, pointer: pointerSegment(list), name: list };
    for (const [at, element] of listOrNone(value).entries()) {
      const pointer = `${pointerSegment(list)}/${at}`;
      if (!isObject(element)) yield { value: element, holder: element, pointer, name: list };
      for (const key of memberNames(objectOrNone(element))) {
        const name = key === "default" ? String(own(element, "name")) : key;
        const value = own(element, key);
        yield { value, holder: element, pointer: pointer + pointerSegment(key), name };
      }
    }
  }
}

/** Nodes and edges of every body; without recursion, since bodies nest as deep as a program likes. */
function checkBodies(ctx: Validation): void {
  const open: { body: unknown; pointer: string; depth: number }[] = [
    { body: ctx.graph, pointer: "", depth: 0 },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { body, pointer, depth } = next;
    // One place serves a whole list: it is asked before the next element comes.
    let at = 0;
    if (is(ctx, body, () => pointer, "nodes", "list")) {
      const place = () => `${pointer}/nodes/${at}`;
      listOrNone(own(body, "nodes")).forEach((node, index) => {
        at = index;
        if (!checkNode(ctx, node, place)) return;
        const inner = own(node, "body");
        if (!isObject(inner)) return;
        const inside = `${place()}/body`;
        if (depth < MAX_JSON_DEPTH) open.push({ body: inner, pointer: inside, depth: depth + 1 });
        else tooDeep(ctx, inside);
      });
    }
    if (is(ctx, body, () => pointer, "edges", "list")) {
      const place = () => `${pointer}/edges/${at}`;
      listOrNone(own(body, "edges")).forEach((edge, index) => {
        at = index;
        if (!isObject(edge)) expected(ctx, place(), "an edge", edge);
        else {
          has(ctx, edge, place, EDGE);
          checkDepth(ctx, own(edge, "meta"), place, "meta");
        }
      });
    }
    if (depth > 0) checkDepth(ctx, own(body, "output"), () => pointer, "output");
  }
}

/** Where something stands: a pointer is made only for what is reported. */
type Place = () => string;

function checkNode(ctx: Validation, node: unknown, place: Place): boolean {
  if (!isObject(node)) {
    expected(ctx, place(), "a node", node);
    return false;
  }
  has(ctx, node, place, NODE);
  const fields = objectOrNone(own(node, "fields"));
  for (const name of memberNames(fields)) {
    checkDepth(ctx, fields[name], place, name, "/fields");
  }
  has(ctx, node, place, NODE_PARTS);
  const version = own(node, "typeVersion");
  if (version !== undefined && !Number.isInteger(version)) {
    expected(ctx, `${place()}/typeVersion`, "a whole number", version);
  }
  checkDepth(ctx, own(node, "policy"), place, "policy");
  return true;
}

function checkDepth(ctx: Validation, value: unknown, holder: Place, key: string, list = ""): void {
  if (ctx.isTooDeep(value)) tooDeep(ctx, holder() + list + pointerSegment(key));
}

function has(ctx: Validation, holder: unknown, place: Place, members: Members): void {
  for (const member of members) {
    const key = member[0];
    if (member.length === 2 || own(holder, key) !== undefined)
      is(ctx, holder, place, key, member[1]);
  }
}

function is(ctx: Validation, holder: unknown, place: Place, key: string, kind: Kind): boolean {
  const value = own(holder, key);
  const fits =
    kind === "list"
      ? Array.isArray(value)
      : kind === "object"
        ? isObject(value)
        : typeof value === kind;
  if (!fits) expected(ctx, place() + pointerSegment(key), `${WORDS[kind]} in ${shown(key)}`, value);
  return fits;
}

function expected(ctx: Validation, pointer: string, what: string, value: unknown): void {
  ctx.report("FLOW1006", pointer, { parts: { what, found: describe(value) } });
}

function describe(value: unknown): string {
  return value === undefined ? "nothing" : typeName(value);
}

function tooDeep(ctx: Validation, pointer: string): void {
  ctx.report("FLOW1014", pointer, { parts: { limit: `${MAX_JSON_DEPTH} levels` } });
}
