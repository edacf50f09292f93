/**
 * Frames of a model's stream that are newer than the package of its maker. Makers add kinds of frames and ask clients to pass
 * them over; packages of the AI SDK check each frame against the kinds that they know and report any other one as an error.
 * @see https://docs.claude.com/en/docs/build-with-claude/streaming, "Other events"
 */
import { isObject } from "@millrace/contracts/kit";

/** Kinds whose frames are never passed over: one that does not fit its schema is broken. */
const FRAMES: ReadonlySet<string> = new Set([
  "message_start",
  "message_delta",
  "message_stop",
  "content_block_stop",
  "error",
  "ping",
  "chat.completion.chunk",
]);

/** Frames that hold something of a kind of its own, and where; the kinds that carry an answer. */
const HOLDERS: { readonly [frame: string]: string } = {
  content_block_start: "content_block",
  content_block_delta: "delta",
};
const CONTENT: ReadonlySet<string> = new Set([
  "text",
  "thinking",
  "redacted_thinking",
  "tool_use",
  "text_delta",
  "thinking_delta",
  "signature_delta",
  "input_json_delta",
]);

/** Members that only frames with an answer, or with an error, have. */
const MEANT = ["choices", "candidates", "error"];

/** Whether an error of a stream says no more than that a frame is of an unknown kind. */
export function isUnknownFrame(error: unknown): boolean {
  if (!isObject(error) || error["name"] !== "AI_TypeValidationError") return false;
  const frame = error["value"];
  if (!isObject(frame) || MEANT.some((name) => Object.hasOwn(frame, name))) return false;
  const kind = frame["type"] ?? frame["object"];
  if (typeof kind !== "string" || FRAMES.has(kind)) return false;
  if (!Object.hasOwn(HOLDERS, kind)) return true;
  const held = frame[HOLDERS[kind] as string];
  return isObject(held) && typeof held["type"] === "string" && !CONTENT.has(held["type"]);
}
