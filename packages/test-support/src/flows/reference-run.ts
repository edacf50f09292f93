/**
 * What a flow means, without scheduling: each node once, after what it waits for. Written from the guide and not from the
 * engine, of which it uses no code, so that the two can be held against each other. It knows the types of `randomFlow`
 * and `onFailure: "finish"`. Of bodies that failed it says nothing: which of their nodes were stopped depends on time.
 */
import type {
  FieldValue,
  FlowBody,
  FlowGraph,
  FlowNode,
  Json,
  JsonObject,
} from "@millrace/contracts";
import { compileValue } from "@millrace/dsl";
import { type Surroundings, type Tried, tryNode } from "./reference-types.ts";

/** How every node ends, by path: `succeeded`, `failed:<routed>`, `skipped:<why>`; its port, and its record where it has one. */
export interface ReferenceNode {
  readonly state: string;
  readonly port?: string;
  readonly record?: Json;
}

export interface ReferenceResult {
  readonly status: "succeeded" | "failed";
  readonly nodes: ReadonlyMap<string, ReferenceNode>;
  /** Empty when the flow failed. */
  readonly outputs: JsonObject;
}

/** Runs a flow in the head. Inputs that are not given have their defaults. */
export function referenceRun(graph: FlowGraph, inputs: JsonObject = {}): ReferenceResult {
  const defaults = Object.fromEntries(graph.inputs.map((input) => [input.name, input.default]));
  const level = new Level(graph, { inputs: { ...defaults, ...inputs } }, "", null);
  const nodes = level.run();
  const readable = level.failed ? [] : graph.outputs.filter(({ value }) => level.canRead(value));
  const outputs = readable.map(({ name, value }) => [name, level.evaluate(value)] as const);
  const status = level.failed ? "failed" : "succeeded";
  return { status, nodes, outputs: Object.fromEntries(outputs) };
}

class Level {
  failed = false;
  readonly #body: FlowBody;
  readonly #locals: JsonObject;
  readonly #prefix: string;
  readonly #outer: Level | null;
  readonly #own = new Map<string, ReferenceNode>(); // by id
  readonly #all = new Map<string, ReferenceNode>(); // by path, bodies included

  constructor(body: FlowBody, locals: JsonObject, prefix: string, outer: Level | null) {
    this.#body = body;
    this.#locals = locals;
    this.#prefix = prefix;
    this.#outer = outer;
  }

  run(): ReadonlyMap<string, ReferenceNode> {
    for (const { id } of this.#body.nodes) this.#settle(id);
    return this.#all;
  }

  /** Whether every node that a value must have is there. */
  canRead(value: FieldValue): boolean {
    return compileValue(value).references.every(({ root, path, optional }) => {
      const state = this.#find(root)?.state;
      if (optional || state === undefined) return true;
      return path[0] === "error" ? state === "failed:port" : isPresent(state);
    });
  }

  evaluate(value: FieldValue, extra: JsonObject = {}): Json {
    const { references, evaluate } = compileValue(value);
    const errors = references.filter(({ path }) => path[0] === "error").map(({ root }) => root);
    const get = (root: string): Json | undefined => {
      const node = Object.hasOwn(extra, root) ? undefined : this.#find(root);
      if (node === undefined) return Object.hasOwn(extra, root) ? extra[root] : this.#local(root);
      const there = isPresent(node.state) || (errors.includes(root) && node.port === "error");
      return there ? (node.record as Json) : null;
    };
    return evaluate({ get }, { nowEpoch: 0 });
  }

  #settle(id: string): void {
    const node = this.#body.nodes.find((each) => each.id === id);
    if (node === undefined || this.#own.has(id)) return;
    for (const { from, to } of this.#body.edges) if (to === id) this.#settle(from);
    const read = [...valuesOf(node), ...innerValuesOf(node)];
    for (const { root } of read.flatMap((value) => compileValue(value).references)) {
      this.#settle(root);
    }
    const ended = this.#decide(node);
    if (ended.state === "failed:none" || ended.state === "failed:parent") this.failed = true;
    this.#own.set(id, ended);
    this.#all.set(this.#prefix + id, ended);
  }

  #decide(node: FlowNode): ReferenceNode {
    const into = this.#body.edges.filter(({ to }) => to === node.id);
    const live = into.filter(({ from, port }) => this.#own.get(from)?.port === port);
    const { join = 1, when, onError } = node.policy ?? {};
    const needed = join === "any" ? 1 : join === "all" ? into.length : join;
    if (into.length > 0 && live.length < needed) return { state: "skipped:dead" };
    if (!valuesOf(node).every((value) => this.canRead(value))) return { state: "skipped:dead" };
    let tried: Tried;
    try {
      if (when !== undefined && this.evaluate(when) !== true) return { state: "skipped:when" };
      tried = this.#tryAll(node, [...new Set(live.map(({ from }) => from))]);
    } catch {
      tried = { failure: { code: "expression_error", retryable: false } };
    }
    if ("port" in tried) return { state: "succeeded", ...tried };
    if (typeof onError === "object") {
      return { state: "failed:default", port: "out", record: this.evaluate(onError.default) };
    }
    const routes = this.#body.edges.some(({ from, port }) => from === node.id && port === "error");
    if (onError !== "port" && !routes) {
      return { state: this.#outer === null ? "failed:none" : "failed:parent" };
    }
    return { state: "failed:port", port: "error", record: { error: { ...tried.failure } } };
  }

  #tryAll(node: FlowNode, sources: readonly string[]): Tried {
    const { max = 0, on, if: again } = node.policy?.retry ?? {};
    for (let attempt = 1; ; attempt += 1) {
      let tried = tryNode(node, this.#around(node, { attempt, sources }));
      const output = "port" in tried ? { output: tried.record } : undefined;
      if (output !== undefined && again !== undefined && this.evaluate(again, output) === true) {
        tried = { failure: { code: "retry_condition", retryable: true } };
      }
      if ("port" in tried || attempt > max) return tried;
      const { code, retryable } = tried.failure;
      if (on === undefined ? !retryable : !on.includes(code)) return tried;
    }
  }

  #around(node: FlowNode, of: { attempt: number; sources: readonly string[] }): Surroundings {
    const { body = { nodes: [], edges: [] } } = node;
    const done: Level[] = [];
    return {
      ...of,
      evaluate: (value, extra) => this.evaluate(value, extra),
      round: (index, locals) => {
        const inner = new Level(body, locals, `${this.#prefix}${node.id}[${index}]/`, this);
        inner.run();
        if (inner.failed) return undefined;
        done.push(inner);
        const { output = null } = body;
        return { value: inner.canRead(output) ? inner.evaluate(output) : null };
      },
      keep: () => {
        for (const inner of done) for (const [path, node] of inner.#all) this.#all.set(path, node);
      },
    };
  }

  #find(id: string): ReferenceNode | undefined {
    return this.#own.get(id) ?? (this.#outer === null ? undefined : this.#outer.#find(id));
  }

  #local(root: string): Json | undefined {
    if (Object.hasOwn(this.#locals, root) || this.#outer === null) return this.#locals[root];
    return this.#outer.#local(root);
  }
}

function isPresent(state: string): boolean {
  return state === "succeeded" || state === "failed:default";
}

/** What a node reads itself. */
function valuesOf({ fields, policy }: FlowNode): FieldValue[] {
  return [...Object.values(fields), ...(policy?.when === undefined ? [] : [policy.when])];
}

/** What the nodes of its body read, for which it waits. */
function innerValuesOf({ body }: FlowNode): FieldValue[] {
  return (body?.nodes ?? []).flatMap((node) => [...valuesOf(node), ...innerValuesOf(node)]);
}
