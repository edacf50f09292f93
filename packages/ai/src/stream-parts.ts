/** Readers of stream parts: texts, tool arguments, finish reasons. They accept any value, because providers may send any. */
import type { AiPart } from "@millrace/contracts";

export type Finish = "stop" | "length" | "tool_calls" | "content_filter" | "other";

/** Text of one id, and what the provider marked it with. */
export interface Block {
  readonly type: "text" | "reasoning";
  readonly id: string;
  text: string;
  providerOptions: unknown;
}

/** Tells blocks of one answer apart. */
export function keyOf({ type, id }: Pick<Block, "type" | "id">): string {
  return `${type} ${id}`;
}

/** The text of a part; empty for a value that is no text. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Bytes of UTF-8. */
export function bytesOf(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}

/** A block as a part of a message; empty ones without marks say nothing. */
export function finished(part: Block | AiPart): AiPart[] {
  if (part.type !== "text" && part.type !== "reasoning") return [part as AiPart];
  const { type, text, providerOptions } = part as Block;
  if (text === "" && providerOptions === undefined) return [];
  return [{ type, text, ...(providerOptions !== undefined && { providerOptions }) }];
}

/** Arguments as the message repeats them; a text that is no JSON goes as it is. */
export function parsedInput(input: string): unknown {
  try {
    return JSON.parse(input === "" ? "{}" : input);
  } catch {
    return input;
  }
}

const FINISHES: { readonly [reason: string]: Finish | "error" } = {
  stop: "stop",
  length: "length",
  "tool-calls": "tool_calls",
  tool_calls: "tool_calls",
  "content-filter": "content_filter",
  content_filter: "content_filter",
  error: "error",
};

/** Whether the provider itself has given the reason of a finish. */
export function hasRawReason(given: unknown): boolean {
  return typeof (given as { raw?: unknown } | null | undefined)?.raw === "string";
}

/** The unified word of a finish reason, a string or `{ unified }`. */
export function readFinish(given: unknown): Finish | "error" {
  const word =
    typeof given === "object" && given !== null ? (given as { unified?: unknown }).unified : given;
  return (typeof word === "string" && Object.hasOwn(FINISHES, word) && FINISHES[word]) || "other";
}
