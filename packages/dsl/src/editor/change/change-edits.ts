/** Changes of a flow as edits of its text. */

import type { FieldValue, FlowEdge, FlowGraph, FlowNode } from "@millrace/contracts";
import { shown } from "../../diagnostics/quote.ts";
import { DslError } from "../../errors.ts";
import { memberByText, NODE_POLICIES, textNames } from "../../language/blocks.ts";
import { type AttrItem, type BlockItem, blocksOf, type Item } from "../../language/items.ts";
import { itemsOf } from "../../write/from-graph.ts";
import { sortedEdits } from "../apply-edits.ts";
import { NameIndex } from "../names.ts";
import type { Reading } from "../reading.ts";
import { renameEdits } from "../rename.ts";
import type { FlowChange, TextEdit } from "../types.ts";
import { attributesOf, setAttribute } from "./attributes.ts";
import { hasEdge, type IsMeant, removeEdges, withoutEdges } from "./edges.ts";
import { Lines } from "./lines.ts";
import { type Holder, holderOf, insertion, removal } from "./place-item.ts";

/** The edits of a change, sorted. Throws `DslError` when the change cannot be made. */
export function changeEdits(reading: Reading, change: FlowChange): readonly TextEdit[] {
  if (reading.parsed.diagnostics.some(isUnread)) {
    refuse("text_invalid", "the text has errors of syntax; mend them before the flow is changed");
  }
  return sortedEdits(new Change(reading).edits(change));
}

/** Whether something may not have been read, so that it is not known where things start and end. */
function isUnread({ code, severity }: { readonly code: string; readonly severity: string }) {
  return severity === "error" && /^FLOW[01]/.test(code);
}

interface Place {
  /** The items around the node. */
  readonly around: Holder;
  readonly node: BlockItem;
  readonly id: string;
}

class Change {
  readonly #reading: Reading;
  readonly #lines: Lines;
  readonly #file: Holder;

  constructor(reading: Reading) {
    this.#reading = reading;
    this.#lines = new Lines(reading.text);
    this.#file = { kind: "file", block: undefined, items: reading.items };
  }

  edits(change: FlowChange): readonly TextEdit[] {
    switch (change.kind) {
      case "addNode":
        return this.#addNode(change.in, change.node);
      case "removeNode":
        return this.#removeNode(change.path);
      case "renameNode":
        return this.#renameNode(change.path, change.to);
      case "setField":
        return this.#set(change.path, attributeOf({ fields: { [change.field]: change.value } }));
      case "removeField":
        return this.#remove(change.path, change.field, false);
      case "setPolicy": {
        const { path, policy, value } = change;
        if (value === undefined) return this.#remove(path, policy, true);
        return this.#set(path, policyItem(policy, value));
      }
      case "addEdge":
        return this.#addEdge(change.in, change.edge);
      case "removeEdge":
        return this.#removeEdge(change.in, change);
      case "setLayout":
        return this.#setLayout(change.path, [change.x, change.y]);
      case "clearLayout":
        return this.#clearLayout(change.path);
    }
  }

  #addNode(owner: string | undefined, node: FlowNode): readonly TextEdit[] {
    const item = graphItems({ nodes: [node] })[0] as BlockItem;
    const holder = this.#inside(owner);
    if (holder && nodeIn(holder.items, node.id)) {
      refuse("name_taken", `there is a node ${shown(node.id)} already; choose another name`);
    }
    if (holder) return insertion(this.#lines, holder, item);
    // The owner has no body yet.
    const owning = graphItems({
      nodes: [{ id: "owner", type: "owner", fields: {}, body: { nodes: [node], edges: [] } }],
    })[0] as BlockItem;
    const { node: around } = this.#find(owner as string);
    const body = owning.items?.find(({ kind }) => kind === "block") as Item;
    return insertion(this.#lines, holderOf(around, "node"), body);
  }

  #removeNode(path: string): readonly TextEdit[] {
    const { around, node, id } = this.#find(path);
    const isAtNode: IsMeant = (from, _, to) => from === id || to === id;
    const { gone, edits } = withoutEdges(this.#lines, around.items, isAtNode);
    const places = this.#layout();
    const isPlaced = ({ name }: AttrItem): boolean => name === path || name.startsWith(`${path}/`);
    return [
      ...edits,
      ...removal(this.#lines, [node, ...gone, ...withoutEntries(places, isPlaced)]),
    ];
  }

  #renameNode(path: string, to: string): readonly TextEdit[] {
    const { node } = this.#find(path);
    const offset = node.labels[0]?.start ?? node.start;
    const result = renameEdits(this.#reading, new NameIndex(this.#reading), offset, to);
    if ("edits" in result) return result.edits;
    return refuse(result.refused === "not_a_name" ? "name_invalid" : "name_taken", result.message);
  }

  #set(path: string, item: AttrItem): readonly TextEdit[] {
    return setAttribute(this.#lines, holderOf(this.#find(path).node, "node"), item);
  }

  #remove(path: string, name: string, policy: boolean): readonly TextEdit[] {
    const found = attributesOf(this.#find(path).node.items ?? [], name, policy);
    if (found.length === 0) {
      const what = policy ? `policy @${name}` : `field ${shown(name)}`;
      refuse("name_unknown", `node ${shown(path)} has no ${what}; name one that it has`);
    }
    return removal(this.#lines, found);
  }

  #addEdge(owner: string | undefined, edge: FlowEdge): readonly TextEdit[] {
    const item = graphItems({ edges: [edge] })[0] as Item;
    const holder = this.#inside(owner);
    const end = [edge.from, edge.to].find((id) => !holder || !nodeIn(holder.items, id));
    if (!holder || end !== undefined) {
      const where = owner === undefined ? "the flow" : `the body of ${shown(owner)}`;
      return refuse("path_unknown", `${where} has no node ${shown(end ?? "")}; add it before`);
    }
    if (hasEdge(holder.items, meaning(edge))) {
      refuse("name_taken", `there is an edge ${shownEdge(edge)} already; change that one`);
    }
    return insertion(this.#lines, holder, item);
  }

  #removeEdge(
    owner: string | undefined,
    edge: { readonly from: string; readonly port?: string; readonly to: string },
  ): readonly TextEdit[] {
    const items = this.#inside(owner)?.items ?? [];
    if (!hasEdge(items, meaning(edge))) {
      refuse("name_unknown", `there is no edge ${shownEdge(edge)}; name one that there is`);
    }
    return removeEdges(this.#lines, items, meaning(edge));
  }

  #setLayout(path: string, place: readonly [number, number]): readonly TextEdit[] {
    this.#find(path);
    const fresh = graphItems({ layout: { [path]: place } })[0] as BlockItem;
    const layout = this.#layout()[0];
    if (!layout) return insertion(this.#lines, this.#file, fresh);
    return setAttribute(this.#lines, holderOf(layout, "layout"), fresh.items?.[0] as AttrItem);
  }

  #clearLayout(path: string | undefined): readonly TextEdit[] {
    const places = this.#layout();
    if (path === undefined) return removal(this.#lines, places);
    const gone = withoutEntries(places, ({ name }) => name === path);
    if (gone.length === 0) {
      refuse("path_unknown", `the layout has no place of ${shown(path)}; name a node that has one`);
    }
    return removal(this.#lines, gone);
  }

  /** The blocks of the layout; of several the first counts. */
  #layout(): readonly BlockItem[] {
    return blocksOf(this.#reading.items, "layout");
  }

  /** The items of the flow, or of the body of a node; undefined: the node has no body. */
  #inside(owner: string | undefined): Holder | undefined {
    return owner === undefined ? this.#file : bodyOf(this.#find(owner).node);
  }

  #find(path: string): Place {
    return (
      find(this.#file, path) ??
      refuse("path_unknown", `there is no node ${shown(path)}; name one of the flow by its path`)
    );
  }
}

/** The node of a path. Ids may hold a `/` themselves. */
function find(around: Holder, path: string): Place | undefined {
  const node = nodeIn(around.items, path);
  if (node) return { around, node, id: path };
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
    const outer = nodeIn(around.items, path.slice(0, at));
    const body = outer && bodyOf(outer);
    const found = body && find(body, path.slice(at + 1));
    if (found) return found;
  }
  return undefined;
}

/** The first node of a name. */
function nodeIn(items: readonly Item[], id: string): BlockItem | undefined {
  return blocksOf(items, "node").find(
    ({ labels, type }) => labels[0]?.text === id && type?.kind === "name",
  );
}

function bodyOf(node: BlockItem): Holder | undefined {
  const [body] = blocksOf(node.items, "body");
  return body && holderOf(body, "body");
}

/** The entries that go; a block of which nothing stays goes as a whole. */
function withoutEntries(
  layout: readonly BlockItem[],
  goes: (entry: AttrItem) => boolean,
): readonly Item[] {
  return layout.flatMap((block): readonly Item[] => {
    const items = block.items ?? [];
    const gone = items.filter((item) => item.kind === "attr" && goes(item));
    const isAll = gone.length > 0 && gone.length === items.length && block.foot.length === 0;
    return isAll ? [block] : gone;
  });
}

/** The items of parts of a flow, checked as those of a whole one. */
function graphItems(parts: object): readonly Item[] {
  // What is absent is read as empty.
  const graph: unknown = { version: 1, id: "flow", nodes: [], ...parts };
  return itemsOf(graph as FlowGraph).slice(1);
}

function attributeOf(node: object): AttrItem {
  const [item] = graphItems({ nodes: [{ id: "node", type: "node", fields: {}, ...node }] });
  return (item as BlockItem).items?.[0] as AttrItem;
}

function policyItem(policy: string, value: FieldValue): AttrItem {
  const member = memberByText(NODE_POLICIES, policy);
  if (!member) {
    const names = textNames(NODE_POLICIES).join(", ");
    return refuse("name_unknown", `there is no policy @${policy}; name one of ${names}`);
  }
  return attributeOf({ policy: { [member.key]: value } });
}

function meaning(edge: { from: string; port?: string | undefined; to: string }): IsMeant {
  return (from, port, to) => from === edge.from && port === (edge.port ?? "out") && to === edge.to;
}

function shownEdge({ from, port, to }: { from: string; port?: string | undefined; to: string }) {
  return `${shown(from)}${port === undefined ? "" : `.${port}`} -> ${shown(to)}`;
}

function refuse(code: ConstructorParameters<typeof DslError>[0], message: string): never {
  throw new DslError(code, message);
}
