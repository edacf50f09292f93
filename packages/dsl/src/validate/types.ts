/** Types of what expressions may read: nodes, inputs, the run, locals of bodies, roots of deferred fields. */
import type { CatalogEntry, JsonSchema } from "@millrace/contracts";
import type { BodyModel, NodeModel } from "../model/bodies.ts";
import { isObject, listOrNone, own } from "../model/plain.ts";
import { visibleNames, visibleNode } from "../model/resolve.ts";
import {
  ANY,
  BOOL,
  type FlowType,
  INT,
  membersOf,
  NUMBER,
  objectOf,
  STRING,
} from "../types/flow-type.ts";
import { typeFromSchema } from "../types/from-schema.ts";
import type { TypeEnv } from "../types/scope.ts";
import type { Validation } from "./context.ts";

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

/** Types of the roots that deferred fields of core have; all others are `any`. */
const ROOTS: ReadonlyMap<string, FlowType> = new Map([
  ["index", INT],
  ["text", STRING],
  ["latencyMs", NUMBER],
  ["finish", STRING],
]);

export class Types {
  readonly #run: Validation;
  readonly #inputs: FlowType;
  readonly #outputs = new WeakMap<CatalogEntry, FlowType>();
  readonly #items = new Map<BodyModel, FlowType>();

  constructor(run: Validation) {
    this.#run = run;
    this.#inputs = inputsType(run);
  }

  /** Notes the type of the elements that a body is run for. */
  setItem(body: BodyModel, list: FlowType): void {
    const lists = membersOf(list).filter((type) => type.kind === "list");
    const [only] = lists;
    if (lists.length === 1 && only !== undefined) this.#items.set(body, only.items);
  }

  /** What the expressions of a place may read. */
  env(body: BodyModel, roots: readonly string[]): TypeEnv {
    return {
      get: (root) => this.#root(root, body, roots),
      node: (id) => {
        const node = visibleNode(id, body);
        if (node !== undefined) return this.#node(node);
        return this.#run.everywhere.has(id) ? ANY : undefined;
      },
      mayBeAbsent: (root) => !roots.includes(root) && this.#isNode(root, body),
      names: () => (this.#run.suggests() ? firstNames(visibleNames(body, roots)) : []),
    };
  }

  #isNode(root: string, body: BodyModel): boolean {
    for (let at: BodyModel | undefined = body; at !== undefined; at = at.outer) {
      if (at.locals.includes(root)) return false;
      if (at.byId.has(root)) return true;
    }
    return root === "nodes";
  }

  #root(root: string, body: BodyModel, roots: readonly string[]): FlowType | undefined {
    if (roots.includes(root)) return ROOTS.get(root) ?? ANY;
    for (let at: BodyModel | undefined = body; at !== undefined; at = at.outer) {
      if (at.locals.includes(root)) return this.#local(root, at);
      const node = at.byId.get(root);
      if (node !== undefined) return this.#node(node);
    }
    if (root === "inputs") return this.#inputs;
    if (root === "run") return RUN;
    if (root === "nodes") return ANY;
    // A node that lives in a body elsewhere is FLOW4005, not an unknown name.
    return this.#run.everywhere.has(root) ? ANY : undefined;
  }

  #local(name: string, body: BodyModel): FlowType {
    if (name === "index") return INT;
    return this.#items.get(body) ?? ANY;
  }

  #node(node: NodeModel): FlowType {
    const entry = this.#run.entryOf(node);
    if (entry === undefined) return ANY;
    let type = this.#outputs.get(entry);
    if (type === undefined) {
      type = recordType(entry);
      this.#outputs.set(entry, type);
    }
    return type;
  }
}

/** The type of a node's record: its output, and `error` when it left by that port. */
function recordType(entry: CatalogEntry): FlowType {
  const output = typeFromSchema(entry.output);
  return output.kind === "object"
    ? objectOf([...output.props, ["error", ERROR]], output.open)
    : ANY;
}

function inputsType(run: Validation): FlowType {
  const props: [string, FlowType][] = [];
  for (const input of listOrNone(own(run.graph, "inputs"))) {
    const name = own(input, "name");
    const schema = own(input, "schema");
    if (typeof name !== "string") continue;
    props.push([name, isObject(schema) ? typeFromSchema(schema as JsonSchema) : ANY]);
  }
  return objectOf(props);
}

/** More names than this are not compared. */
const MAX_NAMES = 2_000;

function* firstNames(names: Iterable<string>): Generator<string> {
  let left = MAX_NAMES;
  for (const name of names) {
    if (left-- <= 0) return;
    yield name;
  }
}
