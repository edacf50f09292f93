/** Types of what expressions may read: nodes, inputs, the run, locals of bodies, roots of deferred fields. */
import type { CatalogEntry, JsonSchema } from "@millrace/contracts";
import { memberNames } from "@millrace/contracts/kit";
import { isObject, listOrNone, objectOrNone, own } from "../../data.ts";
import {
  ANY,
  BOOL,
  type FlowType,
  INT,
  membersOf,
  NUMBER,
  objectOf,
  STRING,
} from "../../types/flow-type.ts";
import { typeFromSchema } from "../../types/from-schema.ts";
import type { TypeEnv } from "../../types/scope.ts";
import { type BodyModel, declared, NodeModel } from "../model/bodies.ts";
import { hintOf } from "../model/deferred.ts";
import { lookUp, visibleNames, visibleNode } from "../model/resolve.ts";
import { literalText } from "../model/walk-value.ts";
import type { Validation } from "../validation.ts";

/** `ErrorInfo`; open, since kinds of errors may say more. */
const ERROR: FlowType = objectOf(
  [
    ["code", STRING],
    ["message", STRING],
    ["retryable", BOOL],
  ],
  true,
);

const RUN: FlowType = objectOf([
  ["id", STRING],
  ["startedAt", STRING],
  ["flow", STRING],
]);

const SECRETS: FlowType = objectOf([], true);

/** Types of the roots that deferred fields of core have; all others are `any`. */
const ROOTS: ReadonlyMap<string, FlowType> = new Map([
  ["index", INT],
  ["text", STRING],
  ["latencyMs", NUMBER],
  ["finish", STRING],
]);

/** The types of what expressions of a flow read: its inputs, the outputs of nodes, the items of bodies. */
export class Types {
  readonly #ctx: Validation;
  readonly #inputs: FlowType;
  readonly #outputs = new Map<CatalogEntry, FlowType>();
  readonly #items = new Map<BodyModel, FlowType>();
  readonly #envs = new Map<BodyModel, TypeEnv>();

  constructor(ctx: Validation) {
    this.#ctx = ctx;
    this.#inputs = inputsType(ctx);
  }

  /** Notes the type of the elements that a body is run for. */
  setItem(body: BodyModel, list: FlowType): void {
    const [only, ...others] = membersOf(list).filter((type) => type.kind === "list");
    if (only !== undefined && others.length === 0) this.#items.set(body, only.items);
  }

  /** The names that expressions of a place may read, with their types. */
  env(body: BodyModel, roots: readonly string[]): TypeEnv {
    const known = roots.length === 0 ? this.#envs.get(body) : undefined;
    if (known !== undefined) return known;
    const env: TypeEnv = {
      get: (root) => this.#root(root, body, roots),
      node: (id) => this.#nodeOrElsewhere(id, visibleNode(id, body)),
      mayBeAbsent: (root) => {
        const found = lookUp(root, body, roots);
        return found instanceof NodeModel || found?.kind === "nodes";
      },
      names: () => (this.#ctx.suggests() ? visibleNames(body, roots) : []),
    };
    if (roots.length === 0) this.#envs.set(body, env);
    return env;
  }

  #root(root: string, body: BodyModel, roots: readonly string[]): FlowType | undefined {
    const found = lookUp(root, body, roots);
    if (found === undefined || found instanceof NodeModel) {
      return this.#nodeOrElsewhere(root, found);
    }
    switch (found.kind) {
      case "root":
        return ROOTS.get(root) ?? ANY;
      case "local":
        return root === "index" ? INT : (this.#items.get(found.body) ?? ANY);
      case "inputs":
        return this.#inputs;
      case "run":
        return RUN;
      case "nodes":
      case "vars": // which there are is known where a run starts
        return ANY;
      case "secrets":
        return SECRETS;
    }
  }

  /** The type of a node's record. A node that lives in a body elsewhere is FLOW4005, not an unknown name. */
  #nodeOrElsewhere(id: string, node: NodeModel | undefined): FlowType | undefined {
    if (node === undefined) return this.#ctx.anywhere(id) && ANY;
    const { entry } = node;
    if (entry === undefined) return ANY;
    let type = this.#outputs.get(entry);
    if (type === undefined) {
      type = recordType(entry);
      this.#outputs.set(entry, type);
    }
    return this.#ofCalled(node, type);
  }

  /** With the outputs of the flow that a node calls, where it is known: as it is now, so not of a version. */
  #ofCalled({ node: { type, fields } }: NodeModel, record: FlowType): FlowType {
    const slug = type === "subflow" ? literalText(own(fields, "flow")) : undefined;
    const outputs = slug === undefined ? undefined : this.#ctx.catalog.flow(slug)?.outputs;
    if (!outputs?.length || record.kind !== "object") return record;
    const props = outputs.map(({ name, schema }) => [name, typeFromSchema(schema ?? {})] as const);
    return { ...record, props: new Map([...record.props, ["outputs", objectOf(props)]]) };
  }
}

/** The type of a node's record: its output, and `error` when it left by that port. */
function recordType(entry: CatalogEntry): FlowType {
  const output = typeFromSchema(entry.output);
  if (output.kind !== "object") return ANY;
  const open = output.open && !namesItsMembers(entry.output);
  return {
    ...objectOf([...output.props, ["error", ERROR]], open),
    aliases: aliasesOf(entry.output),
  };
}

/** Whether a schema lists the members of an output and nothing in it allows others: those are then all that there are. */
function namesItsMembers(schema: JsonSchema): boolean {
  return (
    isObject(own(schema, "properties")) &&
    ALLOWING_MORE.every((keyword) => own(schema, keyword) === undefined)
  );
}

const ALLOWING_MORE: readonly string[] = [
  ...["additionalProperties", "unevaluatedProperties", "patternProperties"],
  ...["$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"],
];

/** Names of other tools for the members of an output. */
function aliasesOf(schema: JsonSchema): ReadonlyMap<string, string> {
  const properties = objectOrNone(own(schema, "properties"));
  return new Map(
    memberNames(properties).flatMap((name) =>
      listOrNone(hintOf(own(properties, name), "aliases")).map((alias): [string, string] => [
        String(alias),
        name,
      ]),
    ),
  );
}

function inputsType(ctx: Validation): FlowType {
  const props: [string, FlowType][] = [];
  for (const { name, value } of declared(ctx.graph, "inputs")) {
    const schema = own(value, "schema");
    if (name === undefined) continue;
    props.push([name, isObject(schema) && ctx.isReadable(schema) ? typeFromSchema(schema) : ANY]);
  }
  return objectOf(props);
}
