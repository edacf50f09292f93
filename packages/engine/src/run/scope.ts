/** Names as expressions of one frame see them. An absent node is null; an unknown name is `undefined`. */
import { type Json, type JsonObject, NodeError } from "@millrace/contracts";
import type { ReadingScope, Value } from "../compile/value.ts";
import { DEFAULTED, type Frame, ROUTED, SUCCEEDED } from "./frame.ts";
import type { RunCore } from "./state.ts";

/** The members of a run that expressions can read. */
type NamedRun = Pick<RunCore, "info" | "vars" | "secretValues">;

/** The scope of a frame; one for its life. */
export function scopeOf(run: NamedRun, frame: Frame): ReadingScope {
  frame.scope ??= new FrameScope(frame, run);
  return frame.scope;
}

/** Evaluates `when` of a node; throws what the expression throws, and `expression_error` for what is not true or false. */
export function evaluateWhen(
  run: RunCore,
  frame: Frame,
  node: number,
  now: number = run.now,
): boolean {
  const when = frame.layout.policies[node]?.when ?? null;
  if (when === null) return true;
  const value = when.evaluate(scopeOf(run, frame), now);
  if (typeof value === "boolean") return value;
  throw new NodeError("expression_error", "@when must be true or false", { reason: "input" });
}

class FrameScope implements ReadingScope {
  /** Set before every evaluation. */
  reading!: Value;
  readonly #frame: Frame;
  readonly #run: NamedRun;

  constructor(frame: Frame, run: NamedRun) {
    this.#frame = frame;
    this.#run = run;
  }

  get(root: string): Json | undefined {
    let frame: Frame | null = this.#frame;
    for (; frame !== null; frame = frame.outer) {
      if (frame.locals !== null && Object.hasOwn(frame.locals, root)) return frame.locals[root];
      const node = frame.layout.index.get(root);
      if (node !== undefined) return read(frame, node, this.reading.errorsOf.has(root));
    }
    if (root === "inputs") return this.#inputs();
    if (root === "run") return this.#run.info;
    if (root === "vars") return this.#run.vars;
    if (root === "secrets") return this.#secrets();
    return root === "nodes" ? this.#nodes() : undefined;
  }

  /** The secrets that this value reads. Throws for one that could not be read. */
  #secrets(): JsonObject {
    const found: { [name: string]: string } = {};
    for (const { root, path } of this.reading.references) {
      const [name] = path;
      const value = root === "secrets" && name ? this.#run.secretValues.get(name) : undefined;
      if (name === undefined || value === undefined) continue;
      if (typeof value !== "string") throw value;
      found[name] = value;
    }
    return found;
  }

  #inputs(): JsonObject {
    let frame = this.#frame;
    while (frame.outer !== null) frame = frame.outer;
    return frame.inputs;
  }

  /** The nodes that this value reads through `nodes["…"]`, as own properties. */
  #nodes(): JsonObject {
    const { viaNodes } = this.reading;
    const entries = new Map<string, Json>();
    for (let frame: Frame | null = this.#frame; frame !== null; frame = frame.outer) {
      for (const id of viaNodes === "all" ? frame.layout.ids : viaNodes) {
        const node = frame.layout.index.get(id);
        if (node !== undefined && !entries.has(id)) entries.set(id, read(frame, node, true));
      }
    }
    return Object.fromEntries(entries);
  }
}

function read(frame: Frame, node: number, errors: boolean): Json {
  const state = frame.state(node);
  const there = state === SUCCEEDED || state === DEFAULTED || (errors && state === ROUTED);
  return there ? (frame.output(node) ?? null) : null;
}
