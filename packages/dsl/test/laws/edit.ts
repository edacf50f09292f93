/** Single edits of a normalized graph, each of which changes what the graph means. */
import type { FlowGraph, Json } from "@millrace/contracts";
import type { Random } from "./random.ts";

type Mutable = { [name: string]: Json | undefined };

interface Edit {
  readonly what: string;
  readonly apply: () => void;
}

const CHOICES: { readonly [member: string]: readonly string[] } = {
  backoff: ["constant", "linear", "exponential"],
  onFailure: ["stop", "finish"],
  onError: ["fail", "port", "collect"],
  join: ["all", "any"],
  delivery: ["atLeastOnce", "atMostOnce"],
  overlap: ["skip", "queue", "allow"],
  catchUp: ["skip", "one", "all"],
};

/** Members that hold values, in which expressions mean something. */
const VALUES: readonly string[] = ["when", "if", "key", "idempotencyKey"];

/** The graph with one edit, and what was edited. The graph itself stays as it is. */
export function editOne(graph: FlowGraph, r: Random): { graph: FlowGraph; what: string } {
  const edited = JSON.parse(JSON.stringify(graph)) as FlowGraph;
  const edit = r.pick(editsOf(edited as unknown as Mutable, r));
  edit.apply();
  return { graph: edited, what: edit.what };
}

function editsOf(graph: Mutable, r: Random): Edit[] {
  const edits: Edit[] = [];
  const push = (what: string, apply: () => void): void => {
    edits.push({ what, apply });
  };

  /** Another scalar of the same kind, or another word of the same choice. */
  function leaf(holder: Mutable, name: string, what: string): void {
    const value = holder[name];
    push(what, () =>
      set(holder, name, other(value, Object.hasOwn(CHOICES, name) ? CHOICES[name] : undefined)),
    );
  }

  function drop(holder: Mutable, name: string, what: string): void {
    push(`${what} removed`, () => {
      delete holder[name];
    });
  }

  /** `isValue`: expressions, templates and protected objects mean something in it. */
  function data(holder: Mutable, name: string, what: string, isValue: boolean): void {
    const value = holder[name];
    if (typeof value !== "object" || value === null) {
      leaf(holder, name, what);
      return;
    }
    if (Array.isArray(value)) {
      const list = value as unknown as Mutable;
      push(`${what} longer`, () => value.push("one more"));
      if (value.length > 0) push(`${what} shorter`, () => value.splice(r.below(value.length), 1));
      const at = value.findIndex((element, i) => i > 0 && !same(element, value[i - 1]));
      if (at !== -1) {
        push(`${what} reordered`, () => {
          value.splice(at - 1, 2, value[at] as Json, value[at - 1] as Json);
        });
      }
      for (const key of value.keys()) data(list, `${key}`, `${what}/${key}`, isValue);
      return;
    }
    const object = value as Mutable;
    const names = Object.keys(object);
    const only = names.length === 1 ? names[0] : undefined;
    if (isValue && only === "$") {
      push(what, () => set(object, "$", `!(${object["$"]})`));
    } else if (isValue && only === "$t") {
      push(what, () => (object["$t"] as Json[]).push({ $: "one_more" }));
    } else if (isValue && only === "$lit") {
      for (const key of Object.keys(object["$lit"] as Mutable)) {
        data(object["$lit"] as Mutable, key, `${what}/${key}`, isValue);
      }
    } else {
      record(object, what, isValue);
    }
  }

  /** An object that is no value itself; its members are. */
  function record(object: Mutable, what: string, isValue: boolean): void {
    push(`${what} with one more`, () => set(object, "one more", true));
    const names = Object.keys(object);
    const rest = names.filter((key) => !/^\$(?:t|lit)?$/.test(key));
    // What is left must not turn into an expression.
    if (rest.length === names.length && rest.length > 0) {
      const key = r.pick(rest);
      drop(object, key, `${what}/${key}`);
      push(`${what}/${key} renamed`, () => {
        const member = object[key] as Json;
        delete object[key];
        set(object, "renamed", member);
      });
    }
    for (const key of names) data(object, key, `${what}/${key}`, isValue);
  }

  function policy(holder: Mutable, what: string): void {
    for (const [name, value] of Object.entries(holder)) {
      const place = `${what}/${name}`;
      drop(holder, name, place);
      if (VALUES.includes(name)) data(holder, name, place, true);
      else if (name === "onError" && typeof value === "object") {
        data(value as Mutable, "default", place, true);
      } else if (name === "on") data(holder, name, place, false);
      else if (typeof value === "object") {
        // A policy of parts; some must be there.
        for (const [part, inner] of Object.entries(value as Mutable)) {
          if (VALUES.includes(part)) data(value as Mutable, part, `${place}/${part}`, true);
          else if (typeof inner === "object") {
            data(value as Mutable, part, `${place}/${part}`, false);
          } else leaf(value as Mutable, part, `${place}/${part}`);
        }
      } else leaf(holder, name, place);
    }
    if (!("timeoutMs" in holder)) push(`${what}/timeoutMs set`, () => set(holder, "timeoutMs", 7));
  }

  function list(holder: Mutable, name: string, what: string, make: () => Json): Mutable[] {
    const items = (holder[name] ?? []) as Json[];
    push(`${what}${name}: one more`, () => items.push(make()));
    if (items.length > 0) {
      push(`${what}${name}: one less`, () => items.splice(r.below(items.length), 1));
    }
    return items as unknown as Mutable[];
  }

  function members(item: Mutable, what: string, needed: readonly string[]): void {
    for (const name of Object.keys(item)) {
      const place = `${what}/${name}`;
      if (name === "inputs") record(item[name] as Mutable, place, true);
      else data(item, name, place, name === "value");
      if (!needed.includes(name)) drop(item, name, place);
    }
  }

  function steps(body: Mutable, what: string): void {
    const edge = { from: "one more", port: "out", to: "one more" };
    for (const item of list(body, "edges", what, () => edge)) {
      members(item, `${what}edge`, ["from", "port", "to"]);
    }
    const node = { id: "one more", type: "log", fields: {} };
    for (const item of list(body, "nodes", what, () => node)) {
      const place = `${what}node ${item["id"]}`;
      leaf(item, "id", `${place} id`);
      leaf(item, "type", `${place} type`);
      if (item["typeVersion"] === undefined) {
        push(`${place} typeVersion set`, () => set(item, "typeVersion", 7));
      } else leaf(item, "typeVersion", `${place} typeVersion`);
      record(item["fields"] as Mutable, `${place} fields`, true);
      if (item["policy"]) policy(item["policy"] as Mutable, `${place} policy`);
      else push(`${place} policy set`, () => set(item, "policy", { join: "any" }));
      if (item["body"]) {
        steps(item["body"] as Mutable, `${place}/`);
        drop(item, "body", `${place} body`);
      } else push(`${place} body set`, () => set(item, "body", { nodes: [], edges: [] }));
    }
    if (body["output"] !== undefined && what !== "") {
      data(body, "output", `${what}output`, true);
      drop(body, "output", `${what}output`);
    }
  }

  leaf(graph, "id", "id");
  for (const name of ["title", "meta"]) {
    if (graph[name] === undefined) continue;
    data(graph, name, name, false);
    drop(graph, name, name);
  }
  if (graph["policy"]) policy(graph["policy"] as Mutable, "policy");
  else push("policy set", () => set(graph, "policy", { onFailure: "finish" }));
  for (const item of list(graph, "inputs", "", () => ({ name: "one more" }))) {
    members(item, `input ${item["name"]}`, ["name"]);
    if (item["default"] === undefined) {
      push(`input ${item["name"]} default set`, () => set(item, "default", null));
    }
  }
  for (const item of list(graph, "outputs", "", () => ({ name: "one more", value: 1 }))) {
    members(item, `output ${item["name"]}`, ["name", "value"]);
  }
  for (const item of list(graph, "connections", "", () => ({ name: "one more", auth: "oauth" }))) {
    members(item, `connection ${item["name"]}`, ["name", "auth"]);
  }
  for (const item of list(graph, "schedules", "", () => ({ name: "one more", everyMs: 7 }))) {
    members(item, `schedule ${item["name"]}`, ["name", "cron", "everyMs", "at"]);
  }
  steps(graph, "");
  return edits;
}

/** Sets an own member, `__proto__` too. */
function set(object: Mutable, name: string, value: Json): void {
  const attributes = { value, enumerable: true, writable: true, configurable: true };
  Object.defineProperty(object, name, attributes);
}

function other(value: Json | undefined, choices?: readonly string[]): Json {
  if (typeof value === "string") {
    return choices?.find((choice) => choice !== value) ?? `${value}é`;
  }
  if (typeof value === "number") return value === 7 ? 8 : 7;
  return typeof value === "boolean" ? !value : false;
}

function same(a: Json | undefined, b: Json | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
