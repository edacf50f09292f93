/**
 * How a flow goes on. When a node has ended, its edges become live or dead, its readers have one thing less to wait for, and
 * whatever is decided by that becomes ready or is skipped. Dead paths are followed to their end, so a join after a branch
 * that did not run always completes. No recursion: ended nodes queue in `run.ended`. Rounds of bodies and flows that are called
 * as tools are frames within a node.
 */
import { type Json, type JsonObject, NodeError } from "@millrace/contracts";
import type * as layouts from "../compile/layout.ts";
import type { Layout } from "../compile/layout.ts";
import { failureOf, toFailure } from "../failures.ts";
import type { BodyEnd, FlowCall } from "../node-type.ts";
import { schemaProblems } from "../schema-check.ts";
import { sizeOf } from "../values.ts";
import { emitLog, emitSkipped } from "./emit.ts";
import { stopFrame } from "./end.ts";
import type * as frames from "./frame.ts";
import { Frame, NO_PORT, RUNNING, SKIPPED, SUCCEEDED } from "./frame.ts";
import { evaluateWhen, scopeOf } from "./scope.ts";
import { take } from "./slots.ts";
import type { Attempt, RunCore } from "./state.ts";

// Compiled code reads an imported number at every use; one of its own module is part of it. The types let no other number in.
const BY_REFERENCE: typeof layouts.BY_REFERENCE = -1;
const COUNTERS: typeof layouts.COUNTERS = 5;
const EDGES_LEFT: typeof layouts.EDGES_LEFT = 0;
const READS_LEFT: typeof layouts.READS_LEFT = 1;
const LIVE_EDGES: typeof layouts.LIVE_EDGES = 2;
const JOIN_ALL: typeof layouts.JOIN_ALL = -1;
const JOIN_DEFAULT: typeof layouts.JOIN_DEFAULT = 0;
const MANY_PORTS: typeof frames.MANY_PORTS = -2;
const PENDING: typeof frames.PENDING = 0;
const READY: typeof frames.READY = 1;

/** Decides the targets of a frame that wait for nothing. */
export function decideRoots(run: RunCore, frame: Frame): void {
  const { roots } = frame.layout;
  for (let k = 0; k < roots.length; k += 1) decide(run, frame, roots[k] as number);
}

/** Follows everything in `run.ended`, and what ends by that. */
export function propagate(run: RunCore): void {
  const queue = run.ended;
  for (let at = 0; at < run.endedSize; at += 3) {
    const frame = run.frames[queue[at] as number] as Frame;
    follow(run, frame, queue[at + 1] as number, queue[at + 2] as number);
    if (frame.open === 0 && !frame.ended) {
      frame.ended = true;
      run.frameEnded(frame);
    }
  }
  run.endedSize = 0;
}

/** Tells the edges and readers of a node that it has left by `port`, and decides what follows. */
export function follow(run: RunCore, frame: Frame, node: number, port: number): void {
  const { outOff, outTo, outPort } = frame.layout;
  const { counters } = frame;
  const fired = port === MANY_PORTS ? frame.fired?.get(node) : undefined;
  const end = outOff[node + 1] as number;
  for (let k = outOff[node] as number; k < end; k += 1) {
    const to = outTo[k] as number;
    const by = outPort[k] as number;
    const at = COUNTERS * to;
    if (by === BY_REFERENCE) {
      counters[at + READS_LEFT] = (counters[at + READS_LEFT] as number) - 1;
    } else {
      counters[at + EDGES_LEFT] = (counters[at + EDGES_LEFT] as number) - 1;
      if (by === port || fired?.includes(by) === true) {
        counters[at + LIVE_EDGES] = (counters[at + LIVE_EDGES] as number) + 1;
        if (frame.layout.types[to]?.wantsSources === true) arrive(frame, to, node);
      }
    }
    decide(run, frame, to);
  }
  run.liveBytes -= frame.releaseReads(node);
}

function arrive(frame: Frame, to: number, from: number): void {
  frame.arrivals ??= new Map();
  const sources = frame.arrivals.get(to);
  if (sources === undefined) frame.arrivals.set(to, [from]);
  else if (frame.state(to) === PENDING) sources.push(from);
}

/** Decides a target once its edges and references allow it. */
function decide(run: RunCore, frame: Frame, target: number): void {
  const { layout, counters } = frame;
  if (frame.state(target) !== PENDING) return;
  if (counters[COUNTERS * target + READS_LEFT] !== 0) {
    return; // references first: the verdict of the edges stays what it is
  }
  if (target >= layout.size) {
    decideOutput(run, frame, target);
    return;
  }
  const verdict = verdictOf(frame, target);
  if (verdict === "open") return;
  if (verdict === "dead") {
    skip(run, frame, target, "dead");
    return;
  }
  if (!hasWhatItNeeds(run, frame, target)) return;
  const when = layout.policies[target]?.when ?? null;
  if (when !== null && !holds(run, frame, target)) return;
  frame.setState(target, READY);
  run.busy += 1;
  run.ring.push(frame.id, target);
}

function verdictOf(frame: Frame, node: number): "live" | "dead" | "open" {
  const { layout, counters } = frame;
  const edges = layout.inEdges[node] as number;
  if (edges === 0) return "live";
  const left = counters[COUNTERS * node + EDGES_LEFT] as number;
  const live = counters[COUNTERS * node + LIVE_EDGES] as number;
  const join = layout.join[node] as number;
  if (join === JOIN_DEFAULT || join === JOIN_ALL) {
    if (left > 0) return "open";
    return live >= (join === JOIN_ALL ? edges : 1) ? "live" : "dead";
  }
  if (live >= join) return "live";
  return live + left < join ? "dead" : "open";
}

function hasWhatItNeeds(run: RunCore, frame: Frame, node: number): boolean {
  const required = frame.layout.required[node] as Layout["required"][number];
  if (required.length === 0) return true;
  const absent = required.filter((read) => !frame.isPresent(read));
  if (absent.length === 0) return true;
  skip(run, frame, node, "dead");
  logAbsent(
    run,
    frame.path(node),
    absent.map((read) => nameOf(frame, read)),
  );
  return false;
}

/** Says which names an expression wanted of nodes that did not run. */
function logAbsent(run: RunCore, reader: string, names: readonly string[]): void {
  emitLog(run, {
    level: "info",
    channel: "engine",
    text: `${reader} is skipped: it reads ${names.join(", ")}, which did not run`,
    code: "input_absent",
    data: { node: reader, names: [...names] },
  });
}

function nameOf(frame: Frame, read: { up: number; node: number; error: boolean }): string {
  let from: Frame | null = frame;
  for (let up = read.up; up > 0 && from !== null; up -= 1) from = from.outer;
  const id = from?.layout.ids[read.node] ?? "";
  return read.error ? `${id}.error` : id;
}

/** `when`: false skips; an error is left to the start of the node, which then fails. */
function holds(run: RunCore, frame: Frame, node: number): boolean {
  try {
    if (evaluateWhen(run, frame, node)) return true;
  } catch {
    return true;
  }
  skip(run, frame, node, "when");
  return false;
}

export function skip(
  run: RunCore,
  frame: Frame,
  node: number,
  why: "dead" | "when" | "run_ended",
): void {
  frame.setState(node, SKIPPED);
  emitSkipped(run, frame, node, why);
  run.count(frame, "skipped");
  run.nodeEnded(frame, node, NO_PORT);
}

/** An output of a flow is evaluated as soon as what it reads is there; without it, it is left out. */
function decideOutput(run: RunCore, frame: Frame, target: number): void {
  const { layout } = frame;
  const output = layout.outputs[target - layout.size] as Layout["outputs"][number];
  const required = layout.required[target] as Layout["required"][number];
  frame.setState(target, SUCCEEDED);
  if (required.every((read) => frame.isPresent(read))) {
    try {
      const value: Json = output.value.evaluate(scopeOf(run, frame), run.now);
      const problem = output.schema && schemaProblems(output.schema, value)[0];
      if (problem !== undefined) {
        frame.outputFailure ??= failureOf(
          "output_schema",
          `output ${output.name}${problem.pointer} ${problem.message}`,
          { reason: "output" },
        );
      } else {
        frame.outputs ??= {};
        Object.defineProperty(frame.outputs, output.name, {
          value,
          enumerable: true,
          configurable: true,
          writable: true,
        });
        run.liveBytes += sizeOf(value);
      }
    } catch (error) {
      frame.outputFailure ??= toFailure(error);
    }
  }
  run.liveBytes -= frame.releaseReads(target);
}

const MAX_PATH_UNITS = 512; // of a node in an event

/** Options of a frame within a node. */
export interface Round {
  /** The nodes to run; default the body of the node. */
  readonly layout?: Layout;
  /** Number of the round; null for a flow. */
  readonly index: number | null;
  readonly inputs: JsonObject;
  readonly locals: JsonObject | null;
}

/** Opens a frame in the body of `attempt`. Throws `NodeError` `nesting_too_deep`. */
export function openRound(
  attempt: Attempt,
  round: Round,
  done: (end: BodyEnd) => void,
): Frame | null {
  const { run, frame, node } = attempt;
  const layout = round.layout ?? (frame.layout.bodies[node] as Layout);
  if (attempt.over || attempt.stopping !== null || run.stop !== null || frame.stopping !== null) {
    done({ status: "cancelled" });
    return null;
  }
  const { index } = round;
  const tries = frame.attempt(node);
  const mark = tries > 1 ? `~${tries}` : "";
  const base = `${frame.path(node)}${mark}${index === null ? "" : `[${index}]`}/`;
  const depth = frame.depth + 1;
  if (depth >= run.limits.depth || base.length + layout.longestId > MAX_PATH_UNITS) {
    throw new NodeError("nesting_too_deep", `limit depth: at most ${run.limits.depth} levels`, {
      reason: "limit",
    });
  }
  if (run.ending && !wasBegun(run, base)) {
    done({ status: "cancelled" });
    return null;
  }
  const id = run.freeFrames?.pop() ?? run.frames.length;
  const inner = new Frame(
    layout,
    { id, base, depth },
    {
      owner: attempt,
      outer: round.locals === null ? null : frame,
      inputs: round.inputs,
      ...(round.locals !== null && { locals: round.locals }),
      done,
    },
  );
  run.frames[id] = inner;
  attempt.rounds += 1;
  if (attempt.type.slots === "none") attempt.setIdle(true); // its rounds do the work
  run.loop.seed(run, inner);
  return inner;
}

/** Whether the log of an interrupted run has anything of this round. */
function wasBegun(run: RunCore, base: string): boolean {
  for (const path of run.recovered?.nodes.keys() ?? []) if (path.startsWith(base)) return true;
  return false;
}

/** Ends a frame whose nodes have all ended, and tells the node that opened it. */
export function closeRound(run: RunCore, frame: Frame): void {
  const { owner, done } = frame;
  run.frames[frame.id] = null;
  run.freeFrames ??= [];
  run.freeFrames.push(frame.id);
  if (owner === null || done === null) return;
  releaseValues(run, frame);
  owner.rounds -= 1;
  if (owner.over) return;
  if (owner.rounds === 0) owner.setIdle(false);
  done(endOf(run, frame));
}

function endOf(run: RunCore, frame: Frame): BodyEnd {
  if (run.stop !== null || (run.ending && frame.wasStopped)) return { status: "cancelled" };
  const failure = frame.failure ?? frame.outputFailure;
  if (failure !== null) return { status: "failed", failure };
  if (frame.stopping !== null) return { status: "cancelled" };
  const { bodyOutput, bodyOutputRequired, outputs } = frame.layout;
  if (frame.outer === null) {
    const made = frame.outputs ?? {};
    const known = outputs.filter(({ name }) => Object.hasOwn(made, name));
    return {
      status: "succeeded",
      value: Object.fromEntries(known.map(({ name }) => [name, made[name] ?? null])),
    };
  }
  if (bodyOutput === null) return { status: "succeeded", value: null };
  if (!bodyOutputRequired.every((read) => frame.isPresent(read))) {
    emitLog(run, {
      level: "info",
      channel: "engine",
      text: `the output of ${frame.base.slice(0, -1)} is null: it reads a node that did not run`,
      code: "input_absent",
      data: { node: frame.base.slice(0, -1) },
    });
    return { status: "succeeded", value: null };
  }
  try {
    return { status: "succeeded", value: bodyOutput.evaluate(scopeOf(run, frame), run.now) };
  } catch (error) {
    return { status: "failed", failure: toFailure(error) };
  }
}

/** Bytes that the frame still held, such as what its output read. */
function releaseValues(run: RunCore, frame: Frame): void {
  for (let node = 0; node < frame.layout.size; node += 1) run.liveBytes -= frame.heldBytes(node);
}

/**
 * Starts a flow. Its node gives its slots back meanwhile, or nodes of its type could wait for each other for ever; afterwards
 * it takes them whether they are free or not.
 */
export function callFlow(
  attempt: Attempt,
  { ref, index, inputs }: { readonly ref: string; readonly index: number; inputs: JsonObject },
): FlowCall {
  const { run, frame: outer, node } = attempt;
  const layout = outer.layout.tools[node]?.flows.get(ref)?.layout;
  if (layout === undefined) throw new TypeError(`the node does not name the flow ${ref}`);
  let end: (end: BodyEnd) => void = () => undefined;
  const ended = new Promise<BodyEnd>((resolve) => {
    end = resolve;
  });
  attempt.extras.flows += 1;
  attempt.giveBack();
  const done = (how: BodyEnd) => {
    attempt.extras.flows -= 1;
    if (attempt.extras.flows === 0) takeBack(attempt);
    end(how);
  };
  let frame: ReturnType<typeof openRound>;
  try {
    frame = openRound(attempt, { layout, index, inputs, locals: null }, done);
  } catch (error) {
    done({ status: "cancelled" });
    throw error;
  }
  run.pump();
  return {
    end: ended,
    stop() {
      if (frame === null || frame.ended || attempt.over) return;
      run.tick();
      stopFrame(run, frame, "parent");
      run.pump();
    },
  };
}

function takeBack(attempt: Attempt): void {
  if (attempt.over || attempt.holds) return;
  if (attempt.frame.state(attempt.node) !== RUNNING) return;
  take(attempt.limits);
  attempt.holds = true;
}
