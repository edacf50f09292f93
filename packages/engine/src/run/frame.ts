/**
 * One activation of a layout: the run itself, an item of a map, a round of a loop, a subflow.
 *   F1  `open` is the number of nodes that have not ended; the frame ends when it is 0.
 *   F2  an output is kept exactly as long as a reader of it has not ended.
 *   F3  a node's state only moves as `events` allow; terminal states stay.
 */
import type { Json, JsonObject } from "@millrace/contracts";
import type * as layouts from "../compile/layout.ts";
import { type Layout, PORT_OUT } from "../compile/layout.ts";
import type { Read } from "../compile/names.ts";
import type { ReadingScope } from "../compile/value.ts";
import type { BodyEnd, Failure } from "../node-type.ts";

/** Why nodes of a frame are stopped. */
export type StopReason = "run_cancelled" | "run_failed" | "sibling" | "parent";

/** The attempt whose body a frame is. */
export interface FrameOwner {
  readonly frame: Frame;
  readonly over: boolean;
  /** Open rounds of its body. */
  rounds: number;
  setIdle(idle: boolean): void;
}

/** Port of a node that no edge leaves live. */
export const NO_PORT = -1;

/** The node leaves by several ports: those in `Frame.fired`. */
export const MANY_PORTS = -2;

const NO_PORTS: readonly string[] = [];

// Written again, as in `flow.ts`: what every node does asks for them.
const COUNTERS: typeof layouts.COUNTERS = 5;
const READERS_LEFT: typeof layouts.READERS_LEFT = 3;
const STATUS: typeof layouts.STATUS = 4;

export class Frame {
  readonly layout: Layout;
  /** Place among the frames of the run; given again after the end. */
  readonly id: number;
  /** Prefix of the paths of its nodes: empty, or ending in `/`. */
  readonly base: string;
  /** The attempt whose body this is; null for the run itself. */
  readonly owner: FrameOwner | null;
  /** Where names are looked up next; null for a flow of its own. */
  readonly outer: Frame | null;
  readonly inputs: JsonObject;
  readonly locals: JsonObject | null;
  readonly depth: number;
  /** As `Layout.counters`; numbers of a list, because a typed array costs a run more to make. */
  readonly counters: number[];
  /** Outputs that have readers, and the bytes of each: two places a node. */
  #kept: (Json | undefined)[] = NOTHING_KEPT;
  readonly done: ((end: BodyEnd) => void) | null;
  open: number;
  stopping: StopReason | null = null;
  failure: Failure | null = null;
  /** An output of the flow that could not be made. */
  outputFailure: Failure | null = null;
  ended = false;
  /** Nodes that this run leaves out. */
  excluded: number[] = NONE;
  /** Made at the first use: `scopeOf`. */
  scope: ReadingScope | null = null;
  /** Outputs of a flow, by name, as far as they are known. */
  outputs: { [name: string]: Json } | null = null;
  /** Sources of live edges by target, in the order they came; only for types that ask. */
  arrivals: Map<number, number[]> | null = null;
  /** Places of the ports by which a node left that left by more than one. */
  fired: Map<number, readonly number[]> | null = null;

  constructor(
    layout: Layout,
    place: { id: number; base: string; depth: number },
    parts: {
      owner?: FrameOwner;
      outer?: Frame | null;
      inputs: JsonObject;
      locals?: JsonObject;
      done?: (end: BodyEnd) => void;
    },
  ) {
    this.layout = layout;
    this.id = place.id;
    this.base = place.base;
    this.depth = place.depth;
    this.owner = parts.owner ?? null;
    this.outer = parts.outer ?? null;
    this.inputs = parts.inputs;
    this.locals = parts.locals ?? null;
    this.done = parts.done ?? null;
    this.counters = layout.counters.slice();
    this.open = layout.size;
  }

  state(node: number): number {
    return (this.counters[COUNTERS * node + STATUS] as number) & STATE;
  }

  setState(node: number, state: number): void {
    const at = COUNTERS * node + STATUS;
    this.counters[at] = ((this.counters[at] as number) & ~STATE) | state;
  }

  attempt(node: number): number {
    return (this.counters[COUNTERS * node + STATUS] as number) >> STATE_BITS;
  }

  setAttempt(node: number, attempt: number): void {
    this.counters[COUNTERS * node + STATUS] = (attempt << STATE_BITS) | this.state(node);
  }

  /** The first attempt of a node that is ready begins. */
  begin(node: number): void {
    this.counters[COUNTERS * node + STATUS] = (1 << STATE_BITS) | RUNNING;
  }

  /** Whether a node of it was stopped. */
  get wasStopped(): boolean {
    for (let node = 0; node < this.layout.size; node += 1) {
      if (this.state(node) === CANCELLED) return true;
    }
    return false;
  }

  path(node: number): string {
    const id = this.layout.ids[node] as string;
    return this.base === "" ? id : this.base + id;
  }

  /** The output of a node, while it has readers. */
  output(node: number): Json | undefined {
    return this.#kept[2 * node];
  }

  /** Bytes of the output that this node holds. */
  heldBytes(node: number): number {
    return (this.#kept[2 * node + 1] as number | undefined) ?? 0;
  }

  /** Keeps an output while it has readers; answers whether it is kept. */
  keep(node: number, value: Json, bytes: number): boolean {
    if (this.counters[COUNTERS * node + READERS_LEFT] === 0) return false;
    if (this.#kept === NOTHING_KEPT) this.#kept = new Array(2 * this.layout.size);
    this.#kept[2 * node] = value;
    this.#kept[2 * node + 1] = bytes;
    return true;
  }

  /** Counts down the readers of everything that `target` read; answers the bytes that became free. */
  releaseReads(target: number): number {
    const { readOff, readTo } = this.layout;
    let freed = 0;
    for (let k = readOff[target] as number; k < (readOff[target + 1] as number); k += 1) {
      const source = readTo[k] as number;
      const at = COUNTERS * source + READERS_LEFT;
      const left = (this.counters[at] as number) - 1;
      this.counters[at] = left;
      if (left === 0) {
        freed += this.heldBytes(source);
        if (this.#kept === NOTHING_KEPT) continue;
        this.#kept[2 * source] = undefined;
        this.#kept[2 * source + 1] = undefined;
      }
    }
    return freed;
  }

  /** Ports beside `out` that the output makes live: the labels of an `ai` node. */
  furtherPorts(node: number, port: string, output: Json): readonly string[] {
    if (port !== "out") return NO_PORTS;
    return this.layout.types[node]?.furtherPorts?.(output) ?? NO_PORTS;
  }

  /** The number of the port for `RunCore.nodeEnded`, of a node that leaves by `port` and by its further ports. */
  exitOf(node: number, port: string, output: Json): number {
    const further = this.furtherPorts(node, port, output);
    if (port === "out" && further.length === 0) return PORT_OUT;
    const ports = this.layout.ports[node] ?? [];
    if (further.length === 0) return ports.indexOf(port);
    this.fired ??= new Map();
    this.fired.set(
      node,
      [port, ...further].map((name) => ports.indexOf(name)),
    );
    return MANY_PORTS;
  }

  /** Whether what `read` asks for is there. */
  isPresent(read: Read): boolean {
    let frame: Frame | null = this;
    for (let up = read.up; up > 0 && frame !== null; up -= 1) frame = frame.outer;
    if (frame === null) return false;
    const state = frame.state(read.node);
    if (state === ROUTED) return read.error;
    if (state !== SUCCEEDED && state !== DEFAULTED) return false;
    if (!read.error) return true;
    const value = frame.output(read.node);
    return typeof value === "object" && value !== null && Object.hasOwn(value, "error");
  }
}

const NONE: number[] = [];

/** Shared by the frames in which nothing is to be read; never changed. */
const NOTHING_KEPT: (Json | undefined)[] = [];

/** A counter holds the state of a node in its lowest bits, and its attempt above them. */
const STATE_BITS = 4;
const STATE = (1 << STATE_BITS) - 1;

/** States of a node in a frame, as the numbers of its counters. Terminal ones are the largest. */
export const PENDING = 0;
/** May start: in the ready ring, or queued for a slot. */
export const READY = 1;
export const RUNNING = 2;
export const RETRYING = 3;
export const WAITING = 4;
export const SUCCEEDED = 5;
/** Failed; the default output stands in. */
export const DEFAULTED = 6;
/** Failed, and left by the port `error`. */
export const ROUTED = 7;
export const FAILED = 8;
export const SKIPPED = 9;
export const CANCELLED = 10;

/** Whether a node in this state has ended. */
export function isTerminal(state: number): boolean {
  return state >= SUCCEEDED;
}
