/** One line that says what an event is about, for the table of events. */
import type { ErrorInfo, ExecutionEvent, Json, ValueRef } from "@millrace/contracts";
import { formatBytes, formatCount, formatDuration } from "../../parts/format.ts";

/** Units of a text that a line shows. */
const MAX = 160;

/** The payload of an event in a line of text. */
export function summaryOf(event: ExecutionEvent): string {
  switch (event.kind) {
    case "run.started":
      return `${event.flow.id}, ${formatCount(event.nodeCount, "node")}, by ${event.trigger}`;
    case "run.paused":
      return [event.reason, ...event.confirmations].join(" ");
    case "run.resumed":
    case "run.cancelling":
      return event.by === undefined ? event.reason : `${event.reason} by ${event.by}`;
    case "node.started":
      return event.type;
    case "node.retrying":
      return `${errorOf(event.error)}; attempt ${event.next} in ${formatDuration(event.delayMs)}`;
    case "node.waiting":
      return `on ${event.on}${event.key === undefined ? "" : ` ${event.key}`}`;
    case "node.progress":
      return `${event.done}${event.total === undefined ? "" : ` of ${event.total}`} ${event.unit ?? ""}`;
    case "node.succeeded":
      return `${formatDuration(event.durationMs)} ${outputText(event)}`;
    case "node.failed":
      return `${errorOf(event.error)} (${event.routed})`;
    case "node.skipped":
      return event.why;
    case "node.cancelled":
      return event.reason;
    case "node.checked":
      return `${event.check} ${event.pass ? "passed" : "failed"} ${cut(event.detail ?? "")}`;
    case "log":
      return `${event.level}: ${cut(event.text)}`;
    case "llm.started":
      return `${event.call} ${event.provider} ${event.model} ${event.purpose}`;
    case "llm.delta":
      return `${event.call} ${event.channel} +${event.text.length} ${cut(event.text)}`;
    case "llm.finished":
      return `${event.call} ${event.finish}, ${formatDuration(event.durationMs)}`;
    case "llm.failed":
      return `${event.call} ${event.reason}, then ${event.next}`;
    case "llm.rejected":
      return `${event.call} ${cut(event.problems[0]?.message ?? "")}`;
    case "tool.started":
      return `${event.call} ${event.tool}`;
    case "tool.finished":
      return `${event.call} ${event.outcome}, ${formatDuration(event.durationMs)}`;
    case "confirm.requested":
      return `${event.id} ${cut(event.prompt)}`;
    case "confirm.resolved":
      return `${event.id} ${event.outcome}${event.by === undefined ? "" : ` by ${event.by}`}`;
    case "summary":
      return `${event.status}, ${formatDuration(event.durationMs)}`;
    default:
      return "";
  }
}

function errorOf({ code, message }: ErrorInfo): string {
  return `${code}: ${cut(message)}`;
}

function outputText(event: { readonly output?: Json; readonly outputRef?: ValueRef }): string {
  const { output, outputRef } = event;
  if (outputRef !== undefined) return formatBytes(outputRef.bytes);
  return output === undefined ? "" : cut(JSON.stringify(output));
}

function cut(text: string): string {
  return text.length > MAX ? `${text.slice(0, MAX)}…` : text;
}
