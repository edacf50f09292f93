// Logs and headers that the cases write; every event is a line of about 200 bytes.
import { createView, makeSummary, serialiseEvent } from "@millrace/contracts";

const TS = 1_750_000_000_000;
const encoder = new TextEncoder();
const none = { inputs: [], outputs: [], connections: [], schedules: [], layout: {} };
const TEXT = "x".repeat(90);

export function headerOf(runId, more = {}) {
  const graph = { version: 1, id: "bench", nodes: [], edges: [], ...none };
  const planDigest = `sha256:${"ab".repeat(32)}`;
  return { runId, planDigest, graph, inputs: {}, trigger: "embed", ...more };
}

function encoded(event) {
  return { seq: event.seq, kind: event.kind, line: encoder.encode(serialiseEvent(event)), event };
}

export function logEvent(runId, seq) {
  const level = "info";
  const channel = "engine";
  return encoded({ v: 1, kind: "log", runId, seq, ts: TS + seq, level, channel, text: TEXT });
}

export const logEvents = (runId, from, count) =>
  Array.from({ length: count }, (_, index) => logEvent(runId, from + index));

/** The end of a run; what came before it does not matter here. */
export function endEvent(runId, seq, status = "cancelled") {
  const summary = makeSummary(createView(runId), { status, ts: TS });
  return encoded({ v: 1, kind: "summary", runId, seq, ts: TS + seq, ...summary });
}

/** A flow of pure nodes, one after another. */
export function chain(length) {
  const nodes = Array.from({ length }, (_, n) => ({
    id: `n${n}`,
    type: "transform",
    fields: { value: n },
  }));
  const edges = nodes.slice(1).map(({ id }, n) => ({ from: `n${n}`, port: "out", to: id }));
  return { version: 1, id: "chain", nodes, edges, ...none };
}
