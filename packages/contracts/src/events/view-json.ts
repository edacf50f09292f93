/**
 * A view as JSON and back.
 *   W1  equal views give equal text: keys in one order, lists in order of first appearance.
 *   W2  folding on from viewFromJson(viewToJson(v)) ends where folding on from v ends.
 */
import { tail } from "./fold-call.ts";
import type {
  CallView,
  ConfirmationView,
  LiveConfirmation,
  LiveNode,
  NodeView,
  RunView,
  RunViewJson,
} from "./view.ts";
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
    confirmations: Array.from(view.confirmations.values(), confirmationToJson),
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

/** The view of its JSON form, ready to fold on. A part that is missing or of another type counts as empty. */
export function viewFromJson(json: RunViewJson): RunView {
  const view = createView();
  for (const key of PLAIN_KEYS) {
    if (json[key] !== undefined) Object.assign(view, { [key]: json[key] });
  }
  Object.assign(view.counts, json.counts);
  Object.assign(view.bodyCounts, json.bodyCounts);
  Object.assign(view.usage, json.usage);
  view.logs = list(json.logs).slice();
  view.failures = list(json.failures).slice();
  for (const call of list(json.calls)) {
    view.calls.set(call.call, { ...call, texts: { ...call.texts } });
  }
  for (const node of list(json.nodes)) restoreNode(view, node);
  for (const confirmation of list(json.confirmations)) restoreConfirmation(view, confirmation);
  view.appeared = Math.max(view.nodes.size, view.confirmations.size);
  return view;
}

/** What a view holds as it is in JSON. */
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
  json.text = node.text === undefined ? undefined : tail(node.text);
  return present(json);
}

function confirmationToJson({ order, ...json }: LiveConfirmation): ConfirmationView {
  return present(json);
}

function callToJson(open: CallView): CallView {
  const { call, node, attempt, kind, name, startedAt } = open;
  const { text, reasoning, object } = open.texts;
  const texts = present({ text, reasoning, object }) as CallView["texts"];
  return { call, node, attempt, kind, name, startedAt, texts };
}

function restoreNode(view: RunView, json: NodeView): void {
  const node: LiveNode = Object.assign(pendingNode(json.node, view.nodes.size), json);
  view.nodes.set(node.node, node);
  if (isBodyPath(node.node) && isTerminal(node.state)) enqueue(view.settled, node, settledAt);
}

function restoreConfirmation(view: RunView, json: ConfirmationView): void {
  const confirmation: LiveConfirmation = {
    id: json.id,
    node: json.node,
    attempt: json.attempt,
    state: json.state,
    prompt: json.prompt,
    deadline: json.deadline,
    requestedAt: json.requestedAt,
    resolvedAt: json.resolvedAt,
    by: json.by,
    order: view.confirmations.size,
  };
  view.confirmations.set(confirmation.id, confirmation);
  if (confirmation.state !== "requested") enqueue(view.resolved, confirmation, resolvedAt);
}

/** Without the keys whose value is `undefined`. */
function present<T extends object>(record: T): T {
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(record)) if (value !== undefined) copy[key] = value;
  return copy as T;
}

function list<T>(value: readonly T[] | undefined): readonly T[] {
  return Array.isArray(value) ? value : [];
}
