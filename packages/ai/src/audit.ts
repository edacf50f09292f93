/**
 * What of prompts, tool arguments and results a log keeps at each level of `auditContent`. The run's secrets are taken out of
 * every value before anything else.
 */
import {
  type AiMessage,
  type AiPart,
  cutText,
  EVENT_LIMITS,
  type Json,
  type JsonObject,
  type LlmStarted,
  type ToolFinished,
  type ToolStarted,
  type ValueRef,
} from "@millrace/contracts";
import { canonicalJson } from "@millrace/contracts/kit";
import type { CoreContext } from "@millrace/engine";
import { sizeOf, valueAt } from "@millrace/engine/pack";
import type { CheckOutcome } from "./expect.ts";
import type { AuditLevel } from "./fields.ts";
import type { AnswerProblem } from "./read-answer.ts";
import { redactContent } from "./redact-content.ts";

export interface AuditPorts {
  /** `mask` gives a value without any known secret, `keepValue` keeps one beside the log. */
  readonly ctx: Pick<CoreContext, "mask" | "keepValue">;
  readonly ai: HmacPorts;
}

export interface HmacPorts {
  /** SHA-256 as lower-case hex. */
  sha256(bytes: Uint8Array): string;
  /** The 32 random bytes of the installation. */
  readonly hmacKey: Uint8Array;
}

/** Longest value in a problem or a detail, in UTF-16 units. */
const MAX_SHOWN = 100;

/** The audit of one node. A class, because a thousand nodes may wait at once: its functions are there once. */
export class Audit {
  readonly level: AuditLevel;
  readonly #ctx: AuditPorts["ctx"];
  readonly #ai: HmacPorts;

  constructor(level: AuditLevel, { ctx, ai }: AuditPorts) {
    this.level = level;
    this.#ctx = ctx;
    this.#ai = ai;
  }

  /** For `llm.started`; undefined: the key is absent. */
  messages(messages: readonly AiMessage[]): LlmStarted["audit"] {
    if (this.level === "none") return undefined;
    const value = messagesAsJson(messages, this.level);
    const chars = charsOf(messages);
    // Written out: a copy of another object has a hidden class of its own here.
    if (this.level === "hash") {
      return { messages: messages.length, chars, hmac: this.#digest(value) };
    }
    return { messages: messages.length, chars, ref: this.#ctx.keepValue(this.#copy(value)) };
  }

  /** For `tool.started`. */
  args(args: Json): Pick<ToolStarted, "args" | "argsRef" | "argsDigest"> {
    return this.#content("args", args);
  }

  /** For `tool.finished`. */
  result(result: Json): Pick<ToolFinished, "result" | "resultRef" | "resultDigest"> {
    return this.#content("result", result);
  }

  /** For `confirm.requested`, at every level alike: nobody can approve what is hidden. */
  confirmArgs(args: Json): Json {
    return fitted(redactContent(this.#ctx.mask(args)));
  }

  /** For `llm.rejected`. */
  problems(problems: readonly AnswerProblem[], answer: Json | undefined): readonly AnswerProblem[] {
    return problems.map(({ path, message }) => {
      const value = answer === undefined ? undefined : valueAt(answer, path);
      return { path, message: message + this.#shown(value) };
    });
  }

  /** For `node.checked`. */
  detail({ rule, wanted, path, value }: CheckOutcome): string {
    const place = path === undefined ? rule : `${path} ${rule}`;
    const ends = wanted !== undefined && this.keepsValues;
    return (ends ? `${place} ${beginning(this.#copy(wanted))}` : place) + this.#shown(value);
  }

  /** Whether the level keeps contents, not only their digests. */
  get keepsValues(): boolean {
    return this.level === "redacted" || this.level === "full";
  }

  /** The part of a value that the audit level keeps. */
  #copy<T extends Json>(value: T): T {
    const masked = this.#ctx.mask(value);
    return this.level === "redacted" ? redactContent(masked) : masked;
  }

  #digest(value: Json): string {
    return hmacOf(this.#ctx.mask(value), this.#ai);
  }

  #shown(value: Json | undefined): string {
    if (value === undefined || !this.keepsValues) return "";
    return `: ${beginning(JSON.stringify(this.#copy(value)))}`;
  }

  /** Members named `args…` or `result…`. */
  #content(name: string, value: Json): { readonly [key: string]: Json | ValueRef } {
    if (this.level === "none") return {};
    if (this.level === "hash") return { [`${name}Digest`]: this.#digest(value) };
    const copy = this.#copy(value);
    return fits(copy) ? { [name]: copy } : { [`${name}Ref`]: this.#ctx.keepValue(copy) };
  }
}

/** `hmac:` and HMAC-SHA-256 over the canonical JSON in hex. @see RFC 2104 */
export function hmacOf(value: Json, { hmacKey: key, sha256 }: HmacPorts): string {
  const message = new TextEncoder().encode(canonicalJson(value));
  const block = new Uint8Array(BLOCK_BYTES);
  block.set(key.length > BLOCK_BYTES ? fromHex(sha256(key)) : key);
  const padded = (pad: number, rest: Uint8Array): Uint8Array => {
    const bytes = new Uint8Array(BLOCK_BYTES + rest.length);
    bytes.set(block.map((byte) => byte ^ pad));
    bytes.set(rest, BLOCK_BYTES);
    return bytes;
  };
  return `hmac:${sha256(padded(0x5c, fromHex(sha256(padded(0x36, message)))))}`;
}

const BLOCK_BYTES = 64; // of SHA-256

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

/** Messages as data. What cannot be redacted, the bytes of files, is kept by `full` only. */
function messagesAsJson(messages: readonly AiMessage[], level: AuditLevel): Json {
  return messages.map(({ role, content }): JsonObject => {
    if (typeof content === "string") return { role, content };
    return {
      role,
      content: content.map((part) =>
        level === "redacted" ? withoutBytes(part) : (part as JsonObject),
      ),
    };
  });
}

function withoutBytes(part: AiPart): JsonObject {
  if (part.type !== "file") return part as JsonObject;
  const { data, ...rest } = part as JsonObject;
  return { ...rest, chars: typeof data === "string" ? data.length : 0 };
}

/** UTF-16 units of the text of all messages. */
function charsOf(messages: readonly AiMessage[]): number {
  let chars = 0;
  for (const { content } of messages) {
    if (typeof content === "string") chars += content.length;
    else for (const { text } of content) if (typeof text === "string") chars += text.length;
  }
  return chars;
}

function beginning(text: string): string {
  return cutText(text, MAX_SHOWN).text;
}

/** Whether a value may stand on an event of a tool. */
function fits(value: Json): boolean {
  const max = EVENT_LIMITS.toolInlineBytes;
  return sizeOf(value) <= max || new TextEncoder().encode(JSON.stringify(value)).length <= max;
}

/** Longest texts that arguments keep where they do not fit on an event, each tried in turn. */
const SHORTER = [2048, 512, 128, 32];

/** Arguments that fit on an event: their texts are cut, the longest first, and say so. */
function fitted(args: Json): Json {
  if (fits(args)) return args;
  for (const max of SHORTER) {
    const shorter = withShortTexts(args, max);
    if (fits(shorter)) return shorter;
  }
  const { text } = cutText(JSON.stringify(args), SHORTER[0] as number);
  return `${text} [cut]`;
}

function withShortTexts(value: Json, max: number): Json {
  if (typeof value === "string") {
    return value.length <= max
      ? value
      : `${cutText(value, max).text} [cut: ${value.length - max} characters]`;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((inner) => withShortTexts(inner, max));
  const entries = Object.entries(value).flatMap(([key, inner]) =>
    inner === undefined ? [] : [[key, withShortTexts(inner, max)] as const],
  );
  return Object.fromEntries(entries);
}
