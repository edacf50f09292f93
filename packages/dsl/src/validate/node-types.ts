/** Node types and what a node of a type has: versions, bodies, ports (FLOW3001, 3009, 3010, 3017, 3018). */
import type { CatalogEntry, Effect } from "@millrace/contracts";
import type { NodeModel } from "../model/bodies.ts";
import { isObject, keysOf, own } from "../model/plain.ts";
import { isLiteral, markerOf } from "../model/values.ts";
import { shown, type Validation } from "./context.ts";

/** The exits of a node. `open`: it may have more, which only a run can tell. */
export interface Ports {
  readonly names: readonly string[];
  readonly open: boolean;
}

const ANY_PORTS: Ports = { names: [], open: true };

/** Checks the type of every node. */
export function checkNodeTypes(run: Validation): void {
  for (const node of run.model.nodes) checkNodeType(run, node);
}

function checkNodeType(run: Validation, node: NodeModel): void {
  const { type, typeVersion } = node.node;
  const entry = run.entryOf(node);
  const at = `${node.pointer}/type`;
  if (entry === undefined) {
    const { parts, fix } = run.nearest(type, run.catalog.types(), at);
    run.findings.add("FLOW3001", at, {
      parts: { type: shown(type), ...parts },
      fix,
      ...(parts.near === undefined && { hint: "install the extension that brings it" }),
    });
    return;
  }
  if (Number.isInteger(typeVersion) && entry.version !== typeVersion) {
    run.findings.add("FLOW3010", `${node.pointer}/typeVersion`, {
      parts: { type: shown(type), n: String(typeVersion), list: versionsOf(run, entry).join(", ") },
    });
  }
  if (entry.deprecated !== undefined) {
    run.findings.add("FLOW3009", at, { parts: { type: shown(type), text: entry.deprecated } });
  }
  checkBody(run, node, entry);
  const effect = effectOf(node, entry);
  if (
    own(node.node.policy, "cache") !== undefined &&
    (effect === "write" || effect === "destructive")
  ) {
    run.findings.add("FLOW3018", `${node.pointer}/policy/cache`, { parts: { effect } });
  }
}

/** What a node does outside, where its type leaves that to a field: a GET only reads. */
function effectOf(node: NodeModel, entry: CatalogEntry): Effect {
  if (entry.type === "service.call") return "read"; // the operation decides, which the catalog of services knows
  if (entry.type !== "http.request") return entry.effect;
  const method = own(node.node.fields, "method") ?? "GET";
  if (method === "GET" || method === "HEAD") return "read";
  return method === "DELETE" ? "destructive" : "write";
}

function checkBody(run: Validation, node: NodeModel, entry: CatalogEntry): void {
  const has = isObject(node.node.body);
  if (has === entry.body) return;
  const type = shown(entry.type);
  if (has) {
    const message = `${type} takes no body`;
    run.findings.add("FLOW3017", `${node.pointer}/body`, { message });
  } else run.findings.add("FLOW3017", node.pointer, { parts: { type } });
}

/** How many versions of a type are asked for. */
const MAX_VERSIONS = 100;

function versionsOf(run: Validation, newest: CatalogEntry): number[] {
  const versions: number[] = [];
  for (let n = Math.max(1, newest.version - MAX_VERSIONS); n <= newest.version; n += 1) {
    if (run.catalog.entry(newest.type, n)?.version === n) versions.push(n);
  }
  return versions;
}

/** The ports of a node: those of its type, those that a field yields, and `error`. */
export function portsOf(node: NodeModel, entry: CatalogEntry | undefined): Ports {
  if (entry === undefined) return ANY_PORTS;
  let ports = fixedPorts.get(entry);
  if (ports === undefined) {
    const names = entry.ports.length > 0 ? entry.ports.map(({ name }) => name) : ["out"];
    ports = { names: [...names, "error"], open: false };
    fixedPorts.set(entry, ports);
  }
  const { portsFrom } = entry;
  const value = portsFrom === undefined ? undefined : own(node.node.fields, portsFrom);
  if (value === undefined) return ports;
  const further = namesFrom(value);
  return { names: [...ports.names, ...(further ?? [])], open: further === undefined };
}

const fixedPorts = new WeakMap<CatalogEntry, Ports>();

/** The ports that a field yields; undefined when they are computed. */
function namesFrom(value: unknown): string[] | undefined {
  if (Array.isArray(value)) {
    const names: string[] = [];
    for (const element of value) {
      const name = own(element, "name");
      if (typeof name === "string") names.push(name);
      else if (!isLiteral(element)) return undefined;
    }
    return names;
  }
  if (!isObject(value)) return [];
  const inner = own(value, "$lit");
  if (isObject(inner) && keysOf(value).length === 1) return keysOf(inner);
  return isLiteral(value) || !("$" in value || "$t" in value) ? keysOf(value) : undefined;
}

/** The literal text of a field, if it is one. */
export function literalText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!isObject(value) || markerOf(value) !== "template") return undefined;
  const parts = own(value, "$t");
  const fixed = Array.isArray(parts) && parts.every((part) => typeof part === "string");
  return fixed ? parts.join("") : undefined;
}
