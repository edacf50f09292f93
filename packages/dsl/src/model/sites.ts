/** The places of a graph that hold values with expressions, and who reads what they read. */
import type { CatalogEntry, Json } from "@millrace/contracts";
import type { BodyModel, GraphModel, NodeModel } from "./bodies.ts";
import { deferredRoots, fieldHints, schemasAt } from "./deferred.ts";
import { isObject, keysOf, listOrNone, objectOrNone, own, step } from "./plain.ts";
import { type Leaf, leavesOf } from "./values.ts";

/** What a value is for. */
export type SiteKind = "field" | "policy" | "body-output" | "flow-output";

/** One value that may hold expressions. */
export interface Site {
  readonly kind: SiteKind;
  /** Field, policy or output name: `url`, `@when`, `@retry.if`, `output`. */
  readonly name: string;
  /** The node that waits: the node itself, the owner of a body for the body's output, none for an output of the flow. */
  readonly reader: NodeModel | undefined;
  /** Where names are looked up. */
  readonly body: BodyModel;
  readonly value: Json;
  readonly pointer: string;
  /** Schema of the value where one is known. */
  readonly schema: unknown;
  /** Roots that the whole value has beside the names of its body. */
  readonly roots: readonly string[];
}

/** Looks up the catalog entry of a node; absent: what is known of core types without a catalog. */
export type EntryOf = (node: NodeModel) => CatalogEntry | undefined;

/** Every place that may hold expressions, in order: nodes with fields and policies, body outputs, flow outputs. */
export function sitesOf(
  graph: { readonly outputs?: unknown },
  model: GraphModel,
  entryOf: EntryOf,
): readonly Site[] {
  const sites: Site[] = [];
  for (const node of model.nodes) addNode(sites, node, entryOf(node));
  for (const body of model.bodies) {
    if (body.output === undefined) continue;
    sites.push({
      kind: "body-output",
      name: "output",
      reader: body.owner,
      body,
      value: body.output,
      pointer: `${body.pointer}/output`,
      schema: undefined,
      roots: NO_ROOTS,
    });
  }
  listOrNone(own(graph, "outputs")).forEach((output, at) => {
    const value = own(output, "value");
    if (value === undefined) return;
    sites.push({
      kind: "flow-output",
      name: String(own(output, "name")),
      reader: undefined,
      body: model.root,
      value,
      pointer: `/outputs/${at}/value`,
      schema: own(output, "schema"),
      roots: NO_ROOTS,
    });
  });
  return sites;
}

const NO_ROOTS: readonly string[] = [];

function addNode(sites: Site[], node: NodeModel, entry: CatalogEntry | undefined): void {
  const fields = objectOrNone(node.node.fields);
  const hints = fieldHints(node.node, entry);
  for (const name of keysOf(fields)) {
    const [schema] = hints === undefined ? [] : schemasAt(hints, name);
    const roots = deferredRoots(schema, node.node);
    sites.push({
      kind: "field",
      name,
      reader: node,
      body: node.body,
      value: fields[name] as Json,
      pointer: `${node.pointer}/fields${step(name)}`,
      schema,
      roots: roots ?? NO_ROOTS,
    });
  }
  if (isObject(node.node.policy)) addPolicies(sites, node);
}

/** The members of a policy that may hold expressions; all others are literal. */
export const POLICY_VALUES: readonly (readonly string[])[] = [
  ["when"],
  ["retry", "if"],
  ["onError", "default"],
  ["concurrency", "key"],
  ["idempotencyKey"],
  ["cache", "key"],
];

const POLICY_NAMES: { readonly [name: string]: string } = {
  onError: "on-error",
  idempotencyKey: "idempotency-key",
};

function addPolicies(sites: Site[], node: NodeModel): void {
  for (const path of POLICY_VALUES) {
    let value: unknown = node.node.policy;
    for (const key of path) value = own(value, key);
    if (value === undefined) continue;
    const [first, ...rest] = path as [string, ...string[]];
    const name = `@${[POLICY_NAMES[first] ?? first, ...rest].join(".")}`;
    sites.push({
      kind: "policy",
      name,
      reader: node,
      body: node.body,
      value: value as Json,
      pointer: `${node.pointer}/policy/${path.join("/")}`,
      schema: undefined,
      roots: name === "@retry.if" ? ["output"] : NO_ROOTS,
    });
  }
}

/** The expressions of a place. */
export function siteLeaves(site: Site): readonly Leaf[] {
  return leavesOf(site.value, site.pointer, site.schema);
}

/** The extra roots of one expression: those of the whole value and those that its own place in the schema gives. */
export function rootsOf(site: Site, leaf: Leaf): readonly string[] {
  if (site.reader === undefined || leaf.schemas.length === 0) return site.roots;
  let roots = site.roots;
  for (const schema of leaf.schemas) {
    const more = leaf.path.length > 0 ? deferredRoots(schema, site.reader.node) : undefined;
    if (more !== undefined) roots = [...roots, ...more];
  }
  return roots;
}
