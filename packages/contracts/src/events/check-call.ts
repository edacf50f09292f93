/** Calls and confirmations: I6 (texts add up), I7 (each is closed once, where it was opened). */
import { checkProgress, checkRemark, type Remark } from "./check-node.ts";
import { type CallRecord, type CheckState, type NodeRecord, report } from "./check-state.ts";
import { addCall } from "./sums.ts";
import type { LlmDelta, LlmFailed, LlmFinished, LlmRejected } from "./types.ts";

/** A remark of a node, whatever it is about. */
export function checkSaid(state: CheckState, e: Remark): void {
  const node = checkRemark(state, e);
  if (node === undefined) return;
  switch (e.kind) {
    case "node.progress":
      checkProgress(state, node, e);
      break;
    case "llm.delta":
      checkDelta(state, node, e);
      break;
    case "llm.started":
      node.rejectable = [];
      openCall(state, node, e, state.calls, e.call, "llm");
      break;
    case "tool.started":
      openCall(state, node, e, state.calls, e.call, "tool");
      break;
    case "confirm.requested":
      state.openConfirmations.add(
        openCall(state, node, e, state.confirmations, e.id, "confirmation"),
      );
      break;
    case "llm.finished":
    case "llm.failed":
      checkModelCallEnd(state, node, e);
      break;
    case "tool.finished":
      closeCall(state, node, e, state.calls.get(e.call), "tool");
      break;
    case "confirm.resolved":
      checkAnswer(state, node, e);
      break;
    case "llm.rejected":
      checkRejected(state, node, e);
      break;
    default:
  }
}

function openCall(
  state: CheckState,
  node: NodeRecord,
  e: Remark,
  known: Map<string, CallRecord>,
  id: string,
  kind: CallRecord["kind"],
): CallRecord {
  if (known.has(id)) report(state, e, "I7", `the id ${id} is used twice`);
  const lengths = new Map<string, number>();
  const call: CallRecord = { id, kind, node, attempt: e.attempt, isOpen: true, lengths };
  known.set(id, call);
  node.openCalls += 1;
  return call;
}

/** Closes a call if it is open, of this kind, and of this node; otherwise reports it. */
function closeCall(
  state: CheckState,
  node: NodeRecord,
  e: Remark,
  call: CallRecord | undefined,
  kind: CallRecord["kind"],
): boolean {
  if (call === undefined || !call.isOpen || call.kind !== kind) {
    report(state, e, "I7", `${e.kind} closes no open ${kind} call`);
    return false;
  }
  if (call.node !== node || call.attempt !== e.attempt) {
    report(state, e, "I7", `${e.kind} closes ${call.id} of ${call.node.path}`);
  }
  call.isOpen = false;
  call.node.openCalls -= 1;
  return true;
}

function checkDelta(state: CheckState, node: NodeRecord, e: LlmDelta): void {
  let call = state.calls.get(e.call);
  if (call?.isOpen !== true || call.kind !== "llm" || call.node !== node) {
    report(state, e, "I6", `a delta of ${e.call}, which is not open on ${e.node}`);
    if (call !== undefined) return;
    call = openCall(state, node, e, state.calls, e.call, "llm");
  }
  const length = call.lengths.get(e.channel) ?? 0;
  if (e.offset !== length) {
    report(state, e, "I6", `a delta of ${e.call} at ${e.offset}, not at ${length}`);
  }
  call.lengths.set(e.channel, length + e.text.length);
}

function checkModelCallEnd(state: CheckState, node: NodeRecord, e: LlmFinished | LlmFailed): void {
  const call = state.calls.get(e.call);
  if (!closeCall(state, node, e, call, "llm") || call === undefined) return;
  if (e.kind === "llm.finished") {
    node.rejectable = [...node.rejectable, e.call];
    checkLengths(state, e, call);
  } else {
    let sum = 0;
    for (const length of call.lengths.values()) sum += length;
    if (e.discarded !== sum) {
      report(state, e, "I6", `${e.call} discards ${sum} units, not ${e.discarded}`);
    }
  }
  addCall(state, e);
}

function checkLengths(state: CheckState, e: LlmFinished, { lengths }: CallRecord): void {
  const stated = Object.entries<number>(e.lengths);
  for (const [channel, length] of stated) {
    const sum = lengths.get(channel) ?? 0;
    if (length !== sum) {
      report(state, e, "I6", `${e.call} has ${sum} units of ${channel}, not ${length}`);
    }
  }
  if (stated.length < lengths.size) {
    report(state, e, "I6", `${e.call} does not tell the lengths of all its channels`);
  }
}

function checkAnswer(
  state: CheckState,
  node: NodeRecord,
  e: Extract<Remark, { kind: "confirm.resolved" }>,
): void {
  const confirmation = state.confirmations.get(e.id);
  if (confirmation?.isOpen !== true) {
    report(state, e, "I3", `${e.id} is not open for an answer`);
    return;
  }
  closeCall(state, node, e, confirmation, "confirmation");
  state.openConfirmations.delete(confirmation);
}

function checkRejected(state: CheckState, node: NodeRecord, e: LlmRejected): void {
  if (node.rejectable.includes(e.call)) return;
  report(state, e, "I7", `llm.rejected names ${e.call}, which has not just finished on ${e.node}`);
}
