/** The exits of nodes: those of their types, those that a field yields, and `error`. */
import type { CatalogEntry } from "@millrace/contracts";
import { memberNames } from "@millrace/contracts/kit";
import { isObject, markerOf, own } from "../../data.ts";
import type { NodeModel } from "../model/bodies.ts";
import { firstExpression } from "../model/walk-value.ts";

/** The exits of a node. `open`: it may have more, which only a run can tell. */
export interface NodePorts {
  readonly names: ReadonlySet<string>;
  readonly open: boolean;
}

const ANY_PORTS: NodePorts = { names: new Set(), open: true };

/** Ports of one graph; each node is looked at once, however many edges leave it. */
export class Ports {
  readonly #fixed = new Map<CatalogEntry, NodePorts>();
  readonly #nodes = new Map<NodeModel, NodePorts>();
  readonly #isReadable: (value: unknown) => boolean;

  constructor(isReadable: (value: unknown) => boolean) {
    this.#isReadable = isReadable;
  }

  of(node: NodeModel): NodePorts {
    const { entry } = node;
    if (entry === undefined) return ANY_PORTS;
    const { portsFrom } = entry;
    const value = typeof portsFrom === "string" ? own(node.node.fields, portsFrom) : undefined;
    if (!this.#isReadable(value)) return ANY_PORTS;
    const known: Map<unknown, NodePorts> = value === undefined ? this.#fixed : this.#nodes;
    const key = value === undefined ? entry : node;
    let ports = known.get(key);
    if (ports === undefined) {
      ports = portsOf(entry, value);
      known.set(key, ports);
    }
    return ports;
  }
}

/** The exits of an entry, with those that the value of its field `portsFrom` yields. */
export function portsOf(entry: CatalogEntry, value: unknown): NodePorts {
  const names = new Set(entry.ports.map(({ name }) => name));
  if (names.size === 0) names.add("out");
  names.add("error");
  const further = namesFrom(value);
  for (const name of further ?? []) names.add(name);
  return { names, open: further === undefined };
}

/** The ports that a field yields; undefined when they are computed, or the field is not what it must be. */
function namesFrom(value: unknown): string[] | undefined {
  if (Array.isArray(value)) {
    const names: string[] = [];
    for (const element of value) {
      const name = own(element, "name");
      if (typeof name !== "string") return undefined;
      names.push(name);
    }
    return names;
  }
  if (!isObject(value)) return value === undefined ? [] : undefined;
  const marker = markerOf(value);
  if (marker === undefined) return memberNames(value);
  const inner = marker === "$lit" ? own(value, "$lit") : undefined;
  if (isObject(inner)) return memberNames(inner);
  return firstExpression(value) === undefined ? [] : undefined;
}
