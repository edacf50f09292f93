/**
 * A view as JSON and back.
 *   W1  equal views give equal text: keys in one order, lists in order of first appearance.
 *   W2  folding on from viewFromJson(viewToJson(v)) ends where folding on from v ends.
 */
import { present } from "../kit/objects.ts";
import { tail } from "./fold-call.ts";
import type { LiveCall, LiveConfirmation, LiveNode, RunView } from "./view.ts";
import type { CallView, ConfirmationView, NodeView, RunViewJson } from "./view-parts.ts";
import {
  createView,
  enqueue,
  isBodyPath,
  isTerminal,
  pendingNode,
  resolvedAt,
  settledAt,
} from "./view-state.ts";

/** A copy of the view as JSON; later folding does not change it. Values of events are shared, not copied. */
export function viewToJson(view: RunView): RunViewJson {
  return {
    v: 1,
    runId: view.runId,
    seq: view.seq,
    state: view.state,
    startedAt: view.startedAt,
    updatedAt: view.updatedAt,
    flow: view.flow,
    nodeCount: view.nodeCount,
    onFailure: view.onFailure,
    trigger: view.trigger,
    paused: view.paused,
    cancelReason: view.cancelReason,
    nodes: Array.from(view.nodes.values(), nodeToJson),
    confirmations: Array.from(view.confirmations.values(), ({ order, ...json }) => present(json)),
    calls: Array.from(view.calls.values(), callToJson),
    counts: { ...view.counts },
    bodyCounts: { ...view.bodyCounts },
    usage: { ...view.usage },
    costUsd: view.costUsd,
    logs: view.logs.map(({ seq, ts, node, level, channel, text, code }) => ({
      seq,
      ts,
      ...(node === undefined ? {} : { node }),
      level,
      channel,
      text,
      ...(code === undefined ? {} : { code }),
    })),
    warnings: view.warnings,
    failures: view.failures.slice(),
    trimmed: view.trimmed,
    summary: view.summary,
  };
}

/** The view of its JSON form, ready to fold on. A part that is missing or of another type counts as empty, an entry as absent. */
export function viewFromJson(json: RunViewJson): RunView {
  const view = createView();
  for (const key of PLAIN_KEYS) {
    if (json?.[key] !== undefined) Object.assign(view, { [key]: json[key] });
  }
  Object.assign(view.counts, json?.counts);
  Object.assign(view.bodyCounts, json?.bodyCounts);
  Object.assign(view.usage, json?.usage);
  view.logs = records(json?.logs);
  view.failures = records(json?.failures);
  for (const call of records(json?.calls)) {
    view.calls.set(call.call, { ...call, texts: texts(call) });
  }
  for (const node of records(json?.nodes)) restoreNode(view, node);
  for (const confirmation of records(json?.confirmations)) restoreConfirmation(view, confirmation);
  view.appeared = Math.max(view.nodes.size, view.confirmations.size);
  return view;
}

/** Members of a view that are the same in JSON. */
const PLAIN_KEYS = [
  "runId",
  "seq",
  "state",
  "startedAt",
  "updatedAt",
  "flow",
  "nodeCount",
  "onFailure",
  "trigger",
  "paused",
  "cancelReason",
  "costUsd",
  "warnings",
  "trimmed",
  "summary",
] as const;

function nodeToJson(node: LiveNode): NodeView {
  const { order, ...json } = node;
  json.checks = { ...node.checks };
  json.text = typeof node.text === "string" ? tail(node.text) : undefined;
  return present(json);
}

function callToJson(open: CallView): CallView {
  const { call, node, attempt, kind, name, startedAt } = open;
  return { call, node, attempt, kind, name, startedAt, texts: texts(open) };
}

function texts({ texts }: CallView): LiveCall["texts"] {
  const copy: LiveCall["texts"] = {};
  for (const channel of ["text", "reasoning", "object"] as const) {
    const text = texts?.[channel];
    if (typeof text === "string") copy[channel] = text;
  }
  return copy;
}

function restoreNode(view: RunView, json: NodeView): void {
  const node: LiveNode = Object.assign(pendingNode(json.node, view.nodes.size), json);
  view.nodes.set(node.node, node);
  if (isBodyPath(node.node) && isTerminal(node.state)) enqueue(view.settled, node, settledAt);
}

function restoreConfirmation(view: RunView, json: ConfirmationView): void {
  const order = view.confirmations.size;
  const { id, node, attempt, state, prompt, deadline, requestedAt, by } = json;
  const known = { id, node, attempt, state, prompt, deadline, requestedAt };
  const confirmation: LiveConfirmation = { ...known, resolvedAt: json.resolvedAt, by, order };
  view.confirmations.set(confirmation.id, confirmation);
  if (confirmation.state !== "requested") enqueue(view.resolved, confirmation, resolvedAt);
}

function records<T extends object>(value: readonly T[] | undefined): T[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "object" && entry) : [];
}
