/** The places of a graph that hold values with expressions, and the nodes that wait for what they read. */

import type { Json } from "@millrace/contracts";
import { memberNames, pointerSegment } from "@millrace/contracts/kit";
import { isObject, objectOrNone, own } from "../../data.ts";
import { NODE_POLICIES } from "../../language/blocks.ts";
import { type BodyModel, declared, type GraphModel, type NodeModel } from "./bodies.ts";
import { deferredRoots, fieldHints, schemasAt } from "./deferred.ts";
import { keysTo, pointerTo, type ValuePath } from "./walk-value.ts";

/** Use of a value. */
export type SiteKind = "field" | "policy" | "body-output" | "flow-output";

const NONE: readonly never[] = [];

/** One value that may hold expressions. */
export class Site {
  readonly kind: SiteKind;
  /** Field, policy or output name: `url`, `@when`, `@retry.if`, `output`. */
  readonly name: string;
  /** The node that waits: the node itself, the owner of a body for the body's output, none for an output of the flow. */
  readonly reader: NodeModel | undefined;
  /** Where names are looked up. */
  readonly body: BodyModel;
  readonly value: Json;
  /** Schemas of the value where any are known; several are alternatives. */
  readonly schemas: readonly unknown[];
  /** Roots that the whole value has beside the names of its body. */
  readonly roots: readonly string[];
  readonly #steps: string | undefined;

  /** `steps`: the pointer inside of the holder; absent: it is the field `name`. */
  constructor(
    kind: SiteKind,
    name: string,
    reader: NodeModel | undefined,
    body: BodyModel,
    value: Json,
    schemas: readonly unknown[] = NONE,
    roots: readonly string[] = NONE,
    steps?: string,
  ) {
    this.kind = kind;
    this.name = name;
    this.reader = reader;
    this.body = body;
    this.value = value;
    this.schemas = schemas;
    this.roots = roots;
    this.#steps = steps;
  }

  get pointer(): string {
    const ofNode = this.kind === "field" || this.kind === "policy";
    const holder = ofNode ? (this.reader?.pointer ?? "") : this.body.pointer;
    return holder + (this.#steps ?? `/fields${pointerSegment(this.name)}`);
  }
}

/** Fields and policies of a node that may hold expressions. */
export function sitesOfNode(node: NodeModel): readonly Site[] {
  const fields = objectOrNone(node.node.fields);
  const hints = fieldHints(node.node, node.entry);
  const sites = memberNames(fields).map((name) => {
    const schemas = schemasAt(hints, name);
    const roots = schemas.length === 0 ? NONE : deferredRoots(schemas[0], node.node);
    return new Site("field", name, node, node.body, fields[name] as Json, schemas, roots);
  });
  const { policy } = node.node;
  if (!isObject(policy)) return sites;
  for (const [name, path] of POLICY_VALUES) {
    let value: unknown = policy;
    for (const key of path) value = own(value, key);
    if (value === undefined) continue;
    const roots = name === "@retry.if" ? ["output"] : NONE;
    const steps = `/policy/${path.join("/")}`;
    sites.push(new Site("policy", name, node, node.body, value as Json, NONE, roots, steps));
  }
  return sites;
}

/** Outputs of bodies, then those of the flow. */
export function outputSites(
  graph: { readonly outputs?: unknown },
  model: GraphModel,
): readonly Site[] {
  const sites: Site[] = [];
  for (const body of model.bodies) {
    if (body.output === undefined) continue;
    const { owner, output } = body;
    sites.push(new Site("body-output", "output", owner, body, output, NONE, NONE, "/output"));
  }
  for (const { value: output, pointer } of declared(graph, "outputs")) {
    const value = own(output, "value");
    if (value === undefined) continue;
    const schema = own(output, "schema");
    const schemas = schema === undefined ? NONE : [schema];
    const name = String(own(output, "name"));
    const steps = `${pointer}/value`;
    sites.push(new Site("flow-output", name, undefined, model.root, value, schemas, NONE, steps));
  }
  return sites;
}

/** The members of a policy that may hold expressions, by their names in text; all others are literal. */
export const POLICY_VALUES: readonly (readonly [string, readonly string[]])[] =
  /* @__PURE__ */ policyValues();

function policyValues(): [string, string[]][] {
  const found = NODE_POLICIES.flatMap(({ text, key, kind, members = [] }): [string, string[]][] => [
    ...(kind === "value" ? [[`@${text}`, [key]] as [string, string[]]] : []),
    ...members
      .filter((member) => member.kind === "value")
      .map((member): [string, string[]] => [`@${text}.${member.text}`, [key, member.key]]),
  ]);
  // The guard of a node is read before everything else.
  return found.sort(([a], [b]) => Number(b === "@when") - Number(a === "@when"));
}

/** One expression of a site. */
export class Leaf {
  readonly site: Site;
  readonly source: string;
  /** The container in the value that is the expression or its template; none when it is the whole value. */
  readonly path: ValuePath | undefined;
  /** Its place in a template, -1 outside: its value becomes text. */
  readonly hole: number;
  /** It is all that its template holds. */
  readonly alone: boolean;

  constructor(
    site: Site,
    source: string,
    path: ValuePath | undefined,
    hole: number,
    alone: boolean,
  ) {
    this.site = site;
    this.source = source;
    this.path = path;
    this.hole = hole;
    this.alone = alone;
  }

  /** JSON Pointer of the `{"$"}` object. */
  get pointer(): string {
    return this.valuePointer + (this.hole < 0 ? "" : `/$t/${this.hole}`);
  }

  /** JSON Pointer of the expression, or of the whole template that it is a part of. */
  get valuePointer(): string {
    return pointerTo(this.site.pointer, this.path);
  }

  /** Keys and indexes from the value's root. */
  get keys(): readonly (string | number)[] {
    return keysTo(this.path);
  }

  /** Schemas of its place. */
  get schemas(): readonly unknown[] {
    return this.path === undefined ? this.site.schemas : this.path.schemas;
  }

  /** The extra roots: those of the whole value and those that its own place in the schema gives. */
  get roots(): readonly string[] {
    const { site, path } = this;
    if (site.reader === undefined || path === undefined) return site.roots;
    let { roots } = site;
    for (const schema of path.schemas) {
      const more = deferredRoots(schema, site.reader.node);
      if (more.length > 0) roots = [...roots, ...more];
    }
    return roots;
  }
}
