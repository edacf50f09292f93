/**
 * What follows when a node has ended: its edges become live or dead, its readers have one thing less to wait for, and
 * whatever is decided by that becomes ready or is skipped. Dead paths are followed to their end, so a join after a branch
 * that did not run always completes. No recursion: ended nodes queue in `run.ended`.
 */
import type { Json } from "@millrace/contracts";
import { BY_REFERENCE, JOIN_ALL, JOIN_DEFAULT, type Layout } from "../compile/layout.ts";
import { failureOf, toFailure } from "../failures.ts";
import { schemaProblems } from "../schema-check.ts";
import { sizeOf } from "../values.ts";
import { closeRound } from "./bodies.ts";
import { emitLog, emitSkipped } from "./emit.ts";
import { type Frame, MANY_PORTS, NO_PORT } from "./frame.ts";
import { PENDING, READY, SKIPPED, SUCCEEDED } from "./node-states.ts";
import { evaluateWhen, scopeOf } from "./scope.ts";
import type { RunCore } from "./state.ts";

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
      run.endedFrames.push(frame);
    }
  }
  run.endedSize = 0;
}

/**
 * Ends the bodies within a restored frame that are over, so that what holds them comes as far as it had come: to the rounds
 * that were open. Failed and stopped ones end last, for nothing begins after them. Nothing else is decided.
 */
export function endRestoredBodies(run: RunCore, within: Frame): void {
  for (;;) {
    const over = restoredOver(run, within);
    const fine = over.filter(({ failure, wasStopped }) => failure === null && !wasStopped);
    const next = new Set(fine.length > 0 ? fine : over);
    if (next.size === 0) return;
    const queue = run.ended.slice(0, run.endedSize);
    run.endedSize = 0;
    for (let at = 0; at < queue.length; at += 3) {
      const [id, node, port] = queue.slice(at, at + 3) as [number, number, number];
      const frame = run.frames[id] as Frame;
      if (next.has(frame)) follow(run, frame, node, port);
      else {
        run.ended[run.endedSize++] = id;
        run.ended[run.endedSize++] = node;
        run.ended[run.endedSize++] = port;
      }
    }
    for (const frame of next) {
      frame.ended = true;
      closeRound(run, frame);
    }
  }
}

/** Bodies within a frame whose nodes have all ended. One without nodes has nothing to say and ends by itself. */
function restoredOver(run: RunCore, within: Frame): Frame[] {
  return run.frames.filter((frame): frame is Frame => {
    if (frame === null || frame.open > 0 || frame.ended || frame.layout.size === 0) return false;
    for (let outer = frame.owner?.frame; outer !== undefined; outer = outer.owner?.frame) {
      if (outer === within) return true;
    }
    return false;
  });
}

function follow(run: RunCore, frame: Frame, node: number, port: number): void {
  const { outOff, outTo, outPort } = frame.layout;
  const { counters, targets } = frame;
  const fired = port === MANY_PORTS ? frame.fired?.get(node) : undefined;
  const end = outOff[node + 1] as number;
  for (let k = outOff[node] as number; k < end; k += 1) {
    const to = outTo[k] as number;
    const by = outPort[k] as number;
    if (by === BY_REFERENCE) {
      counters[targets + to] = (counters[targets + to] as number) - 1;
    } else {
      counters[to] = (counters[to] as number) - 1;
      if (by === port || fired?.includes(by) === true) {
        counters[2 * targets + to] = (counters[2 * targets + to] as number) + 1;
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
  const { layout, counters, targets } = frame;
  if (counters[4 * targets + target] !== PENDING) return;
  if (counters[targets + target] !== 0) {
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
  counters[4 * targets + target] = READY;
  run.busy += 1;
  run.ring.push(frame.id, target);
}

function verdictOf(frame: Frame, node: number): "live" | "dead" | "open" {
  const { layout, counters, targets } = frame;
  const edges = layout.inEdges[node] as number;
  if (edges === 0) return "live";
  const left = counters[node] as number;
  const live = counters[2 * targets + node] as number;
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
