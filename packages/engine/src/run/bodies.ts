/** Frames within a node: rounds of a body, and flows that a node calls. */
import { type JsonObject, NodeError } from "@millrace/contracts";
import type { Layout } from "../compile/layout.ts";
import { toFailure } from "../failures.ts";
import type { BodyEnd } from "../node-type.ts";
import { emitLog } from "./emit.ts";
import { Frame } from "./frame.ts";
import { scopeOf } from "./scope.ts";
import type { Attempt, RunCore } from "./state.ts";

const MAX_PATH_UNITS = 512; // of a node in an event

/** What a frame within a node starts with. */
export interface Round {
  /** What is run; absent: the body of the node. */
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
  for (const path of run.past?.nodes.keys() ?? []) if (path.startsWith(base)) return true;
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
