/** Steps and remarks of nodes: I3, I5, I8, I15 (routes), I17 (bodies), I18 (outputs), and the durations of I10. */
import { checkReady } from "./check-graph.ts";
import { appear, type CheckState, type NodeRecord, report } from "./check-state.ts";
import { NODE_MACHINE, NODE_REMARKS } from "./machines.ts";
import type {
  EventOf,
  Kind,
  Log,
  NodeChecked,
  NodeFailed,
  NodeProgress,
  NodeSucceeded,
} from "./types.ts";
import type { NodeState } from "./view-parts.ts";
import { isTerminal } from "./view-state.ts";

export type NodeStep = Exclude<EventOf<"node">, NodeProgress | NodeChecked>;

export type Remark =
  | NodeProgress
  | NodeChecked
  | (Log & { readonly node: string; readonly attempt: number })
  | EventOf<"llm" | "tool" | "confirm">;

/** Rules for a kind of step, computed once for each kind. */
export interface StepFacts {
  /** The state of the node after it. */
  readonly next: NodeState;
  /** States of `NODE_MACHINE` in which it is legal. */
  readonly from: readonly NodeState[];
}

/** The facts of a step; undefined: the kind is none. */
export function stepOf(kind: Kind): StepFacts | undefined {
  const states = Object.keys(NODE_MACHINE) as NodeState[];
  const from = states.filter((state) => NODE_MACHINE[state][kind] !== undefined);
  const next = from[0] && NODE_MACHINE[from[0]][kind]; // the same from each of them
  return next && { next, from };
}

/** A step of a node, `known` unless it appears now; answers it. One that is not in the machine is taken as stated, unless the node is over. */
export function checkStep(
  state: CheckState,
  e: NodeStep,
  { known, facts }: { readonly known: NodeRecord | undefined; readonly facts: StepFacts },
): NodeRecord {
  const node = known ?? appear(state, e.node);
  const { next, from } = facts;
  if (!from.includes(node.state)) {
    report(state, e, "I3", `${e.kind} of ${e.node}, which is ${node.state}`);
    if (isTerminal(node.state)) return node;
    node.isTimed = false;
  }
  if (node.isInBody) checkEnclosing(state, node, e);
  checkAttempt(state, node, e);
  if (e.kind === "node.started" || e.kind === "node.skipped") checkReady(state, e);
  if (next !== "running" && next !== "waiting") closeWhatIsOpen(state, node, e);
  apply(state, node, e);
  node.state = next;
  if (isTerminal(next)) end(state, node, next);
  return node;
}

/** Something that a node says without a step. Answers its record when it may speak. */
export function checkRemark(state: CheckState, e: Remark): NodeRecord | undefined {
  const node = state.nodes.get(e.node);
  if (node === undefined || NODE_REMARKS[e.kind]?.includes(node.state) !== true) {
    report(state, e, "I5", `${e.kind} of ${e.node}, which is ${node?.state ?? "pending"}`);
    return node;
  }
  if (e.attempt !== node.attempt) {
    report(state, e, "I5", `${e.node} is at attempt ${node.attempt}, not ${e.attempt}`);
  }
  return node;
}

/** `node.progress` counts up, and not beyond its total. */
export function checkProgress(state: CheckState, node: NodeRecord, e: NodeProgress): void {
  if (e.done < node.done) {
    report(state, e, "I18", `progress of ${e.node} falls from ${node.done} to ${e.done}`);
  } else if (e.total !== undefined && e.done > e.total) {
    report(state, e, "I18", `progress of ${e.node} is beyond its total`);
  }
  node.done = e.done;
}

function checkEnclosing(state: CheckState, node: NodeRecord, e: NodeStep): void {
  const { parent } = node;
  if (
    parent === undefined ||
    (parent.state !== "running" && parent.state !== "waiting") ||
    parent.attempt !== node.parentAttempt
  ) {
    report(state, e, "I17", `${e.kind} of ${e.node}, whose enclosing node is not at it`);
  }
}

function checkAttempt(state: CheckState, node: NodeRecord, e: NodeStep): void {
  const { kind, attempt } = e;
  if (kind === "node.started") {
    const due = node.state === "retrying" ? node.attempt + 1 : node.attempt;
    if (attempt !== due) {
      report(state, e, "I8", `${e.node} starts at attempt ${attempt}, not ${due}`);
    } else if (e.ts < node.dueAt - 1 && node.isTimed) {
      report(state, e, "I8", `${e.node} starts ${node.dueAt - e.ts} ms before its delay is over`);
    }
  } else if (attempt !== node.attempt) {
    const invariant = node.state === "pending" ? "I8" : "I5";
    report(state, e, invariant, `${e.node} is at attempt ${node.attempt}, not ${attempt}`);
  }
  if (kind === "node.retrying" && e.next !== attempt + 1) {
    report(state, e, "I8", `the attempt after ${attempt} of ${e.node} is not ${e.next}`);
  }
}

/** An attempt ends with nothing of it left open: neither body nodes nor calls. */
function closeWhatIsOpen(state: CheckState, node: NodeRecord, e: NodeStep): void {
  if (node.openChildren > 0) {
    report(state, e, "I17", `${e.kind} of ${e.node}, whose body is still open`);
    for (const child of state.openNodes) if (child.parent === node) state.openNodes.delete(child);
    node.openChildren = 0;
  }
  if (node.openCalls === 0) return;
  for (const call of [...state.calls.values(), ...state.confirmations.values()]) {
    if (!call.isOpen || call.node !== node) continue;
    report(state, e, "I7", `${e.kind} of ${e.node} before its ${call.kind} ${call.id} is closed`);
    call.isOpen = false;
    state.openConfirmations.delete(call);
  }
  node.openCalls = 0;
}

const OUT: readonly string[] = ["out"];

function apply(state: CheckState, node: NodeRecord, e: NodeStep): void {
  switch (e.kind) {
    case "node.started": {
      const isLegalStart = node.state === "pending" || node.state === "retrying";
      if (state.firstFailure !== undefined && state.started?.onFailure === "stop") {
        report(state, e, "I15", `${e.node} starts after ${state.firstFailure} failed the run`);
      }
      node.attempt = e.attempt;
      node.type = e.type;
      node.isTimed = isLegalStart && state.violations.at(-1)?.seq !== e.seq;
      node.startedAt = e.ts;
      node.done = -1;
      if (node.rejectable.length > 0) node.rejectable = [];
      break;
    }
    case "node.retrying":
      node.dueAt = e.ts + e.delayMs;
      break;
    case "node.waiting":
      node.waitingOn = e.on;
      break;
    case "node.succeeded":
      node.ports = e.ports ?? OUT;
      checkDuration(state, node, e);
      checkOutput(state, e, "one");
      break;
    case "node.failed":
      node.routed = e.routed;
      checkDuration(state, node, e);
      checkOutput(state, e, e.routed === "default" ? "one" : "none");
      checkRoute(state, node, e);
      break;
    default:
  }
}

function checkDuration(state: CheckState, node: NodeRecord, e: NodeSucceeded | NodeFailed): void {
  const lasted = e.ts - node.startedAt;
  if (node.isTimed && e.durationMs !== lasted) {
    report(state, e, "I10", `${e.node} took ${lasted} ms, not ${e.durationMs}`);
  }
}

function checkOutput(
  state: CheckState,
  e: NodeSucceeded | NodeFailed,
  expected: "one" | "none",
): void {
  const given = (e.output === undefined ? 0 : 1) + (e.outputRef === undefined ? 0 : 1);
  if (given === (expected === "one" ? 1 : 0)) return;
  report(state, e, "I18", `${e.kind} of ${e.node} has ${given} of output and outputRef`);
}

function checkRoute(state: CheckState, node: NodeRecord, e: NodeFailed): void {
  if (e.routed === (node.isInBody ? "none" : "parent")) {
    report(state, e, "I15", `${e.node} is routed "${e.routed}"`);
  }
  if (e.routed === "none") state.firstFailure ??= e.node;
}

function end(
  state: CheckState,
  node: NodeRecord,
  next: "succeeded" | "failed" | "skipped" | "cancelled",
): void {
  state.openNodes.delete(node);
  (node.isInBody ? state.bodyCounts : state.counts)[next] += 1;
  if (node.parent !== undefined && node.parent.openChildren > 0) node.parent.openChildren -= 1;
}
