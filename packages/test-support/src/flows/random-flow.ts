/**
 * Random flows: whole programs of scripted nodes, conditions, switches, joins, maps and loops within each other. The same
 * seed gives the same graph. Every flow ends under `onFailure: "finish"`, and how each node ends does not depend on the
 * order in which bodies settle; only `from` and `first` of a `join` do.
 */
import type {
  FieldValue,
  FlowBody,
  FlowEdge,
  FlowGraph,
  FlowNode,
  Policy,
} from "@millrace/contracts";
import { createRandom, type Random } from "@millrace/engine/testing";
import { graphWith } from "../graph.ts";
import { numberOf, type Readable } from "./random-terms.ts";

const MAX_NODES = 60;
const MAX_DEPTH = 3; // bodies within each other
const MAX_BODY = 5;

/** A node in the making: what later ones may read of it and leave it by. */
interface Made extends Readable {
  readonly ports: readonly string[];
}

interface Level {
  readonly depth: number;
  readonly outer: readonly Made[];
  /** Names of numbers. */
  readonly locals: readonly string[];
  readonly made: Made[];
}

/** A flow of 1 to 60 nodes, bodies included. Register `scriptedNode` to run it; `inputs.n` has a default. */
export function randomFlow(seed: number): FlowGraph {
  return new FlowMaker(createRandom(seed)).flow(seed);
}

class FlowMaker {
  readonly #random: Random;
  #left: number;
  #names = 0;

  constructor(random: Random) {
    this.#random = random;
    // Half of the flows are small: they are read when a property fails.
    this.#left = random.integer(1, random.chance(0.5) ? 8 : MAX_NODES);
  }

  flow(seed: number): FlowGraph {
    const level: Level = { depth: 0, outer: [], locals: ["inputs.n"], made: [] };
    const { nodes, edges } = this.#level(level, Number.POSITIVE_INFINITY);
    const outputs = Array.from({ length: this.#random.integer(0, 3) }, (_, i) => ({
      name: `out${i}`,
      value: { $: this.#number(level) },
    }));
    return graphWith({
      id: `random-${seed}`,
      policy: { onFailure: "finish" },
      inputs: [{ name: "n", schema: { type: "integer" }, default: this.#random.integer(0, 9) }],
      nodes,
      edges,
      outputs,
    });
  }

  /** Nodes in an order in which each reads and follows earlier ones, then shuffled. */
  #level(level: Level, most: number): { nodes: FlowNode[]; edges: FlowEdge[] } {
    const nodes: FlowNode[] = [];
    const edges: FlowEdge[] = [];
    while (this.#left > 0 && nodes.length < most) {
      this.#left -= 1;
      const id = `n${this.#names++}`;
      const into = this.#edgesInto(id, level);
      const { node, ports, ...readable } = this.#node(id, level, into.length);
      edges.push(...into);
      nodes.push(node);
      level.made.push({ id, ports, ...readable });
    }
    return { nodes: this.#shuffled(nodes), edges: this.#shuffled(edges) };
  }

  #edgesInto(to: string, { made }: Level): FlowEdge[] {
    const edges = new Map<string, FlowEdge>();
    const most = made.length === 0 ? 0 : this.#random.pick([0, 1, 1, 2, 2, 3]);
    for (let i = 0; i < most; i += 1) {
      const { id: from, ports } = this.#random.pick(made.slice(-8));
      const port = this.#random.pick(ports);
      edges.set(`${from} ${port}`, { from, port, to });
    }
    return [...edges.values()];
  }

  #node(id: string, level: Level, edges: number): Omit<Made, "id"> & { node: FlowNode } {
    const random = this.#random;
    const kinds = ["scripted", "scripted", "scripted", "transform", "condition", "switch", "join"];
    const kind =
      level.depth < MAX_DEPTH && this.#left > 0 && random.chance(0.15)
        ? random.pick(["map", "loop"])
        : random.pick(kinds);
    const common = this.#policy(level, edges);
    switch (kind) {
      case "scripted":
        return this.#scripted(id, level, common);
      case "transform": {
        const fields = { value: this.#value(level) };
        return { kind, ...this.#failing({ id, type: kind, fields, policy: common }, true) };
      }
      case "condition": {
        const fields = { if: { $: `${this.#number(level)} % 2 == 0` } };
        const node = { id, type: kind, fields, ...some(common) };
        return { kind, node, ports: ["true", "false"], routes: false };
      }
      case "switch": {
        const fields = {
          on: { $: `${this.#number(level)} % 5` },
          cases: { zero: 0, low: [1, 2], high: [3] },
        };
        const node = { id, type: kind, fields, ...some(common) };
        return { kind, node, ports: ["zero", "low", "high", "default"], routes: false };
      }
      case "join":
        return {
          kind,
          node: { id, type: kind, fields: {}, ...some(common) },
          ports: ["out"],
          routes: false,
        };
      default:
        return this.#owner(id, kind as "map" | "loop", level, common);
    }
  }

  #scripted(id: string, level: Level, policy: Policy): Omit<Made, "id"> & { node: FlowNode } {
    const random = this.#random;
    const fields: { [name: string]: FieldValue } = { value: this.#value(level) };
    const own: { -readonly [P in keyof Policy]: Policy[P] } = { ...policy };
    if (random.chance(0.3)) fields["port"] = random.pick(["out", "left", "right"]);
    if (random.chance(0.3)) fields["fail"] = random.integer(1, 4);
    if (random.chance(0.1)) fields["retryable"] = false;
    if (random.chance(0.6)) fields["delayMs"] = random.pick([0, 0, 1, 5, 10, 50, 500]);
    if (random.chance(0.05)) fields["hang"] = true;
    if (fields["hang"] === true || random.chance(0.1)) own.timeoutMs = random.pick([7, 30, 3_000]);
    if (random.chance(0.3)) {
      const by = random.pick(["constant", "linear", "exponential"] as const);
      own.retry = { max: random.integer(0, 3), delayMs: random.pick([0, 10, 100]), backoff: by };
      if (random.chance(0.15)) own.retry = { ...own.retry, if: { $: "output.value % 3 == 0" } };
      if (random.chance(0.1))
        own.retry = { ...own.retry, on: [random.pick(["scripted", "timeout"])] };
    }
    const made = this.#failing({ id, type: "test.scripted", fields, policy: own }, true);
    const port = fields["port"] ?? "out";
    // Most edges are live, else most of a flow would be skipped.
    const ports = [...made.ports, "left", "right", port as string, port as string, port as string];
    return { kind: "scripted", ...made, ports };
  }

  #owner(
    id: string,
    kind: "map" | "loop",
    level: Level,
    policy: Policy,
  ): Omit<Made, "id"> & { node: FlowNode } {
    const random = this.#random;
    const as = `v${this.#names++}`;
    const inner: Level = {
      depth: level.depth + 1,
      outer: [...level.outer, ...level.made],
      locals: [...level.locals, as, "index"],
      made: [],
    };
    const { nodes, edges } = this.#level(inner, random.integer(1, MAX_BODY));
    // What a body hands on reads its own nodes only, each of which may be absent.
    const output = { $: this.#number({ ...inner, outer: [] }, true) };
    const body: FlowBody = { nodes, edges, ...(random.chance(0.9) && { output }) };
    const own: { -readonly [P in keyof Policy]: Policy[P] } = { ...policy };
    if (random.chance(0.2)) own.retry = { max: 1, delayMs: 10 };
    if (kind === "map") {
      if (random.chance(0.5)) own.concurrency = random.integer(1, 3);
      const items = { $: `range(${this.#number(level)} % ${random.integer(1, 5)})` };
      const node = { id, type: kind, fields: { items, as }, policy: own, body };
      if (!random.chance(0.4)) return { kind, ...this.#failing(node, false) };
      own.onError = "collect";
      return { kind, node, ports: ["out"], routes: false };
    }
    const fields: { [name: string]: FieldValue } = { max: random.integer(1, 4), as };
    if (random.chance(0.8) || body.output !== undefined) fields["init"] = random.integer(0, 9);
    const bound = `(${as} ?? 0) % ${random.integer(2, 5)}`;
    const condition = random.pick(["until", "while", undefined, undefined]);
    if (condition === "until") fields["until"] = { $: `${bound} == 0` };
    if (condition === "while") fields["while"] = { $: `${bound} != 0` };
    // A round without output hands on null, which is no number.
    if (body.output === undefined) fields["max"] = 1;
    return { kind, ...this.#failing({ id, type: kind, fields, policy: own, body }, false) };
  }

  /** What becomes of a failure; `record`: a default may stand in for the output `{ value }`. */
  #failing(
    node: FlowNode & { policy: Policy },
    record: boolean,
  ): { node: FlowNode; ports: readonly string[]; routes: boolean } {
    const random = this.#random;
    const { policy, ...rest } = node;
    if (record && random.chance(0.15)) {
      const fallback = { default: { value: random.integer(0, 9) } };
      return {
        node: { ...rest, policy: { ...policy, onError: fallback } },
        ports: ["out"],
        routes: false,
      };
    }
    if (random.chance(0.35)) {
      return {
        node: { ...rest, policy: { ...policy, onError: "port" } },
        ports: ["out", "out", "error"],
        routes: true,
      };
    }
    return { node: { ...rest, ...some(policy) }, ports: ["out"], routes: false };
  }

  #policy(level: Level, edges: number): Policy {
    const random = this.#random;
    const policy: { -readonly [P in keyof Policy]: Policy[P] } = {};
    if (random.chance(0.15)) {
      const left = random.chance(0.05) ? "1 / (inputs.n - inputs.n)" : this.#number(level);
      policy.when = { $: `${left} % 3 != 0` };
    }
    if (edges > 0 && random.chance(0.3)) {
      policy.join = random.pick(["any", "all", random.integer(1, edges)] as const);
    }
    if (level.depth > 0 && random.chance(0.1)) policy.concurrency = random.integer(1, 2);
    return policy;
  }

  #value(level: Level): FieldValue {
    if (this.#random.chance(0.03)) return { $: "inputs.n / (inputs.n - inputs.n)" };
    return { $: this.#number(level) };
  }

  /** An expression that is a whole number. `safe`: it never skips its reader. */
  #number(level: Level, safe = false): string {
    const readable = [...level.outer, ...level.made];
    return numberOf(this.#random, { readable, locals: level.locals, safe });
  }

  #shuffled<T>(list: readonly T[]): T[] {
    const left = [...list];
    const mixed: T[] = [];
    while (left.length > 0) mixed.push(...left.splice(this.#random.integer(0, left.length - 1), 1));
    return mixed;
  }
}

function some(policy: Policy): { policy?: Policy } {
  return Object.keys(policy).length === 0 ? {} : { policy };
}
