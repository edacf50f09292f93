/** How a view follows model calls, tool calls and confirmations. */
import { splitsPair, VIEW_LIMITS } from "./limits.ts";
import { addCall } from "./sums.ts";
import type {
  ConfirmRequested,
  ConfirmResolved,
  DeltaChannel,
  EventOf,
  LlmDelta,
  LlmRejected,
  LlmStarted,
  ToolStarted,
} from "./types.ts";
import type { LiveConfirmation, LiveNode, RunView } from "./view.ts";
import type { CallView } from "./view-parts.ts";
import { nodeAt, resolve } from "./view-state.ts";

type CallEvent = Exclude<EventOf<"llm" | "tool" | "confirm">, LlmRejected>;

/** Longest text of one channel, and longest gap in it, that a view follows: far beyond any model, well below what a string can hold. */
const MAX_CHANNEL_UNITS = 2 ** 26;

/** Applies one step of a call or confirmation. */
export function foldCall(view: RunView, e: CallEvent): void {
  switch (e.kind) {
    case "llm.delta":
      foldDelta(view, e);
      break;
    case "llm.started":
      openCall(view, e, "llm", e.model);
      if (e.purpose === "generate") {
        const node = nodeAt(view, e.node);
        node.text = undefined;
        node.textCall = e.call;
      }
      break;
    case "llm.finished":
      view.calls.delete(e.call);
      addCall(view, e);
      break;
    case "llm.failed":
      view.calls.delete(e.call);
      addCall(view, e);
      dropText(view.nodes.get(e.node), e.call);
      break;
    case "tool.started":
      openCall(view, e, "tool", e.tool);
      nodeAt(view, e.node).tools += 1;
      break;
    case "tool.finished":
      view.calls.delete(e.call);
      break;
    case "confirm.requested":
      view.confirmations.set(e.id, requested(view, e));
      break;
    case "confirm.resolved":
      foldResolved(view, e);
      break;
  }
}

function openCall(
  view: RunView,
  e: LlmStarted | ToolStarted,
  kind: CallView["kind"],
  name: string,
): void {
  const { call, node, attempt, ts } = e;
  view.calls.set(call, { call, node, attempt, kind, name, startedAt: ts, texts: {} });
}

/** Channels that a view has a place for. */
const CHANNELS: ReadonlySet<string> = new Set<DeltaChannel>(["text", "reasoning", "object"]);

/** Overlaps are ignored and gaps filled with U+FFFD, so a length is always right. */
function foldDelta(view: RunView, e: LlmDelta): void {
  const call = view.calls.get(e.call);
  if (call === undefined || !CHANNELS.has(e.channel)) return;
  const known = call.texts[e.channel] ?? "";
  const gap = e.offset - known.length;
  if (known.length + e.text.length + Math.max(gap, 0) > MAX_CHANNEL_UNITS) return;
  const added = gap === 0 ? e.text : gap < 0 ? e.text.slice(-gap) : "\ufffd".repeat(gap) + e.text;
  call.texts[e.channel] = known + added;
  if (e.channel !== "text") return;
  const node = view.nodes.get(call.node);
  if (node === undefined || node.textCall !== e.call) return;
  const text = (node.text ?? "") + added;
  // Cutting each time would copy the whole tail for every token.
  node.text = text.length > 2 * VIEW_LIMITS.text ? tail(text) : text;
}

/** The last 4,096 units of a node's text, never beginning with half a surrogate pair. */
export function tail(text: string): string {
  if (text.length <= VIEW_LIMITS.text) return text;
  const start = text.length - VIEW_LIMITS.text;
  return text.slice(splitsPair(text, start) ? start + 1 : start);
}

function dropText(node: LiveNode | undefined, call: string): void {
  if (node === undefined || node.textCall !== call) return;
  node.text = undefined;
  node.textCall = undefined;
}

function requested(view: RunView, e: ConfirmRequested): LiveConfirmation {
  const known = view.confirmations.get(e.id);
  if (known === undefined) view.appeared += 1;
  else if (view.resolved.includes(known)) view.resolved.splice(view.resolved.indexOf(known), 1);
  return {
    id: e.id,
    node: e.node,
    attempt: e.attempt,
    state: "requested",
    prompt: e.prompt,
    deadline: e.deadline,
    requestedAt: e.ts,
    resolvedAt: undefined,
    by: undefined,
    order: known?.order ?? view.appeared,
  };
}

function foldResolved(view: RunView, e: ConfirmResolved): void {
  const confirmation = view.confirmations.get(e.id);
  if (confirmation === undefined) return;
  const isFirst = confirmation.state === "requested";
  confirmation.state = e.outcome;
  confirmation.by = e.by;
  if (!isFirst) return;
  confirmation.resolvedAt = e.ts;
  resolve(view, confirmation);
}
