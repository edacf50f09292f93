/** Replaces a model's words by their lengths when the history of a node keeps no content; every invariant still holds. */
import type { Json } from "../json.ts";
import { utf8Length } from "./limits.ts";
import type { ExecutionEvent, NodeFailed, NodeSucceeded, ValueRef } from "./types.ts";

const DOT = "·";

/**
 * The event without the content that a person or a model wrote: each UTF-16 unit of a delta's text and of the strings in a
 * confirmation's tool arguments becomes `·`, an output becomes a reference to no value, and copies of messages, tool
 * arguments and results go. An event that holds none of these is answered as it is.
 */
export function withholdContent(event: ExecutionEvent): ExecutionEvent {
  switch (event.kind) {
    case "llm.delta":
      return { ...event, text: DOT.repeat(event.text.length) };
    case "node.succeeded":
    case "node.failed":
      return withoutOutput(event);
    case "confirm.requested":
      if (event.tool?.args === undefined) return event;
      return { ...event, tool: { ...event.tool, args: masked(event.tool.args) } };
    case "llm.started": {
      if (event.audit?.ref === undefined) return event;
      const { ref, ...audit } = event.audit;
      return { ...event, audit };
    }
    case "tool.started": {
      if (event.args === undefined && event.argsRef === undefined) return event;
      const { args, argsRef, ...rest } = event;
      return rest;
    }
    case "tool.finished": {
      if (event.result === undefined && event.resultRef === undefined) return event;
      const { result, resultRef, ...rest } = event;
      return rest;
    }
    default:
      return event;
  }
}

function withoutOutput<E extends NodeSucceeded | NodeFailed>(event: E): E {
  const { output, outputRef } = event;
  if (output === undefined && outputRef === undefined) return event;
  const gone: ValueRef = {
    ref: "",
    bytes: outputRef?.bytes ?? utf8Length(JSON.stringify(output)),
    mediaType: outputRef?.mediaType ?? "application/json",
  };
  // Keeps the place of the key, so the line keeps its order.
  const entries = Object.entries(event).flatMap(([key, value]) => {
    if (key !== "output" && key !== "outputRef") return [[key, value]];
    return key === "output" && outputRef !== undefined ? [] : [["outputRef", gone]];
  });
  return Object.fromEntries(entries) as E;
}

function masked(value: Json): Json {
  if (typeof value === "string") return DOT.repeat(value.length);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(masked);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, inner === undefined ? inner : masked(inner)]),
  );
}
