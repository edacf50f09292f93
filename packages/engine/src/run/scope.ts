/** Names as expressions of one frame see them. An absent node is null; an unknown name is `undefined`. */
import type { Json, JsonObject } from "@millrace/contracts";
import type { ReadingScope, Value } from "../compile/value.ts";
import type { Frame } from "./frame.ts";
import type { RunCore } from "./run-core.ts";
import { DEFAULTED, ROUTED, SUCCEEDED } from "./states.ts";

export class FrameScope implements ReadingScope {
  /** Set before every evaluation. */
  reading!: Value;
  readonly #frame: Frame;
  readonly #run: RunCore;

  constructor(frame: Frame, run: RunCore) {
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
    return root === "nodes" ? this.#nodes() : undefined;
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
  return there ? (frame.values[node] ?? null) : null;
}
