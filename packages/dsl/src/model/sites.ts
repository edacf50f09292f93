/** The places of a graph that hold values with expressions, and who reads what they read. */
import type { CatalogEntry, Json } from "@millrace/contracts";
import type { BodyModel, GraphModel, NodeModel } from "./bodies.ts";
import { deferredRoots, fieldHints, schemasAt } from "./deferred.ts";
import { isObject, keysOf, objectOrNone, own, step } from "./plain.ts";
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
  readonly deferred: boolean;
}

/** Looks up the catalog entry of a node; absent: what is known of core types without a catalog. */
export type EntryOf = (node: NodeModel) => CatalogEntry | undefined;

/** Every place that may hold expressions, in order: nodes with fields and policies, body outputs, flow outputs. */
export function* sitesOf(
  graph: { readonly outputs?: unknown },
  model: GraphModel,
  entryOf: EntryOf,
): Generator<Site> {
  for (const node of model.nodes) yield* nodeSites(node, entryOf(node));
  for (const body of model.bodies) {
    if (body.output === undefined) continue;
    yield site("body-output", "output", body.owner, body, body.output, `${body.pointer}/output`);
  }
  const outputs = own(graph, "outputs");
  if (!Array.isArray(outputs)) return;
  for (const [at, output] of outputs.entries()) {
    const value = own(output, "value");
    if (value === undefined) continue;
    const name = own(output, "name");
    yield {
      ...site("flow-output", String(name), undefined, model.root, value, `/outputs/${at}/value`),
      schema: own(output, "schema"),
    };
  }
}

function* nodeSites(node: NodeModel, entry: CatalogEntry | undefined): Generator<Site> {
  const fields = objectOrNone(node.node.fields);
  const hints = fieldHints(node.node, entry);
  for (const name of keysOf(fields)) {
    const [schema] = hints === undefined ? [] : schemasAt(hints, name);
    const roots = deferredRoots(schema, node.node);
    yield {
      ...site(
        "field",
        name,
        node,
        node.body,
        fields[name] as Json,
        `${node.pointer}/fields${step(name)}`,
      ),
      schema,
      roots: roots ?? [],
      deferred: roots !== undefined,
    };
  }
  yield* policySites(node);
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

function* policySites(node: NodeModel): Generator<Site> {
  if (!isObject(node.node.policy)) return;
  for (const path of POLICY_VALUES) {
    let value: unknown = node.node.policy;
    for (const key of path) value = own(value, key);
    if (value === undefined) continue;
    const [first, ...rest] = path as [string, ...string[]];
    const name = `@${[POLICY_NAMES[first] ?? first, ...rest].join(".")}`;
    const deferred = name === "@retry.if";
    yield {
      ...site(
        "policy",
        name,
        node,
        node.body,
        value as Json,
        `${node.pointer}/policy/${path.join("/")}`,
      ),
      roots: deferred ? ["output"] : [],
      deferred,
    };
  }
}

function site(
  kind: SiteKind,
  name: string,
  reader: NodeModel | undefined,
  body: BodyModel,
  value: Json,
  pointer: string,
): Site {
  return {
    kind,
    name,
    reader,
    body,
    value,
    pointer,
    schema: undefined,
    roots: [],
    deferred: false,
  };
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
