/**
 * Whether a value has the shape of a graph at all. Graphs also come from programs, models and stores; whatever they hold,
 * the other phases skip what is reported here.
 */
import { MAX_JSON_DEPTH } from "@millrace/contracts";
import { isObject, listOrNone, own, step } from "../model/plain.ts";
import { isTooDeep } from "../model/values.ts";
import { typeName } from "../schema/values.ts";
import type { Validation } from "./context.ts";
import { shown } from "./context.ts";

type Kind = "string" | "list" | "object";

const WORDS: { readonly [kind in Kind]: string } = {
  string: "a string",
  list: "a list",
  object: "an object",
};

/** Reports FLOW1006 for what is not of a graph's shape, FLOW0003 for its version, FLOW1014 for values nested too deep. */
export function checkShape(run: Validation): void {
  const { graph } = run;
  if (!isObject(graph)) {
    expected(run, "", "a graph", graph);
    return;
  }
  const version = own(graph, "version");
  if (version !== 1) {
    const found = typeof version === "number" ? version : describe(version);
    run.findings.add("FLOW0003", "/version", { parts: { found } });
  }
  is(run, graph, "", "id", "string");
  optional(run, graph, "", "title", "string");
  optional(run, graph, "", "meta", "object");
  optional(run, graph, "", "policy", "object");
  is(run, graph, "", "layout", "object");
  for (const [list, keys] of Object.entries(LISTS)) {
    if (!is(run, graph, "", list, "list")) continue;
    listOrNone(own(graph, list)).forEach((element, at) => {
      const pointer = `/${list}/${at}`;
      if (!isObject(element)) expected(run, pointer, WORDS.object, element);
      else for (const [key, kind] of keys) is(run, element, pointer, key, kind);
    });
  }
  checkBodies(run);
}

const LISTS: { readonly [list: string]: readonly (readonly [string, Kind])[] } = {
  inputs: [["name", "string"]],
  outputs: [["name", "string"]],
  connections: [
    ["name", "string"],
    ["auth", "string"],
  ],
  schedules: [["name", "string"]],
};

/** Nodes and edges of every body; without recursion, since bodies nest as deep as a program likes. */
function checkBodies(run: Validation): void {
  const open: { body: unknown; pointer: string; depth: number }[] = [
    { body: run.graph, pointer: "", depth: 0 },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { body, pointer, depth } = next;
    if (is(run, body, pointer, "nodes", "list")) {
      listOrNone(own(body, "nodes")).forEach((node, at) => {
        const place = `${pointer}/nodes/${at}`;
        if (!checkNode(run, node, place)) return;
        const inner = own(node, "body");
        if (!isObject(inner)) return;
        if (depth < MAX_JSON_DEPTH)
          open.push({ body: inner, pointer: `${place}/body`, depth: depth + 1 });
        else tooDeep(run, `${place}/body`);
      });
    }
    if (is(run, body, pointer, "edges", "list")) {
      listOrNone(own(body, "edges")).forEach((edge, at) => {
        checkEdge(run, edge, `${pointer}/edges/${at}`);
      });
    }
    if (isTooDeep(own(body, "output"))) tooDeep(run, `${pointer}/output`);
  }
}

function checkNode(run: Validation, node: unknown, pointer: string): boolean {
  if (!isObject(node)) {
    expected(run, pointer, "a node", node);
    return false;
  }
  is(run, node, pointer, "id", "string");
  is(run, node, pointer, "type", "string");
  optional(run, node, pointer, "policy", "object");
  optional(run, node, pointer, "body", "object");
  const version = own(node, "typeVersion");
  if (version !== undefined && !Number.isInteger(version)) {
    expected(run, `${pointer}/typeVersion`, "a whole number", version);
  }
  if (is(run, node, pointer, "fields", "object")) {
    for (const [name, value] of Object.entries(own(node, "fields") as object)) {
      if (isTooDeep(value)) tooDeep(run, `${pointer}/fields${step(name)}`);
    }
  }
  if (isTooDeep(own(node, "policy"))) tooDeep(run, `${pointer}/policy`);
  return true;
}

function checkEdge(run: Validation, edge: unknown, pointer: string): void {
  if (!isObject(edge)) {
    expected(run, pointer, "an edge", edge);
    return;
  }
  is(run, edge, pointer, "from", "string");
  is(run, edge, pointer, "port", "string");
  is(run, edge, pointer, "to", "string");
}

function optional(
  run: Validation,
  holder: unknown,
  pointer: string,
  key: string,
  kind: Kind,
): void {
  if (own(holder, key) !== undefined) is(run, holder, pointer, key, kind);
}

function is(run: Validation, holder: unknown, pointer: string, key: string, kind: Kind): boolean {
  const value = own(holder, key);
  const fits =
    kind === "list"
      ? Array.isArray(value)
      : kind === "object"
        ? isObject(value)
        : typeof value === "string";
  if (!fits) expected(run, pointer + step(key), `${WORDS[kind]} in ${shown(key)}`, value);
  return fits;
}

function expected(run: Validation, pointer: string, what: string, value: unknown): void {
  run.findings.add("FLOW1006", pointer, { parts: { what, found: describe(value) } });
}

function describe(value: unknown): string {
  return value === undefined ? "nothing" : typeName(value);
}

function tooDeep(run: Validation, pointer: string): void {
  run.findings.add("FLOW1014", pointer, { parts: { limit: `${MAX_JSON_DEPTH} levels` } });
}
