/**
 * What of prompts, tool arguments and results a log keeps at each level of `auditContent`. The run's secrets are taken out of
 * every value before anything else.
 */
import type {
  AiMessage,
  AiPart,
  Json,
  JsonObject,
  LlmStarted,
  ToolFinished,
  ToolStarted,
  ValueRef,
} from "@millrace/contracts";
import { cutText, EVENT_LIMITS } from "@millrace/contracts";
import { canonicalJson } from "@millrace/dsl";
import { valueAt } from "../services/json-pointer.ts";
import { sizeOf } from "../values.ts";
import type { CheckOutcome } from "./expect.ts";
import type { AnswerProblem } from "./output-schema.ts";
import { redactContent } from "./redact-content.ts";

/** How much a log keeps. */
export type AuditLevel = "none" | "hash" | "redacted" | "full";

/** What the audit needs from its run. */
export interface AuditPorts {
  /** SHA-256 as lower-case hex. */
  sha256(bytes: Uint8Array): string;
  /** The 32 random bytes of the installation. */
  readonly key: Uint8Array;
  /** A value without any known secret. */
  mask<T extends Json>(value: T): T;
  /** Keeps a value beside the log. */
  keep(value: Json): ValueRef;
}

/** The audit of one node. */
export interface Audit {
  readonly level: AuditLevel;
  /** For `llm.started`; undefined: the key is absent. */
  messages(messages: readonly AiMessage[]): LlmStarted["audit"];
  /** For `tool.started`. */
  args(args: Json): Pick<ToolStarted, "args" | "argsRef" | "argsDigest">;
  /** For `tool.finished`. */
  result(result: Json): Pick<ToolFinished, "result" | "resultRef" | "resultDigest">;
  /** For `confirm.requested`, at every level alike: nobody can approve what is hidden. */
  confirmArgs(args: Json): Json;
  /** For `llm.rejected`. */
  problems(problems: readonly AnswerProblem[], answer: Json | undefined): readonly AnswerProblem[];
  /** For `node.checked`. */
  detail(outcome: CheckOutcome): string;
}

/** Longest value in a problem or a detail, in UTF-16 units. */
const MAX_SHOWN = 100;

/** The audit of a level. */
export function createAudit(level: AuditLevel, ports: AuditPorts): Audit {
  const { mask, keep } = ports;
  const hmac = (value: Json): string => hmacOf(mask(value), ports);
  /** The copy that the level keeps. */
  const copied = <T extends Json>(value: T): T =>
    level === "redacted" ? redactContent(mask(value)) : mask(value);
  const shown = (value: Json | undefined): string => {
    if (value === undefined || level === "none" || level === "hash") return "";
    return `: ${beginning(JSON.stringify(copied(value)))}`;
  };
  /** Members named `args…` or `result…`. */
  const content = (name: string, value: Json): { readonly [key: string]: Json | ValueRef } => {
    if (level === "none") return {};
    if (level === "hash") return { [`${name}Digest`]: hmac(value) };
    const copy = copied(value);
    return fits(copy) ? { [name]: copy } : { [`${name}Ref`]: keep(copy) };
  };
  return {
    level,
    messages(messages) {
      if (level === "none") return undefined;
      const value = messagesAsJson(messages, level);
      const size = { messages: messages.length, chars: charsOf(messages) };
      return level === "hash"
        ? { ...size, hmac: hmac(value) }
        : { ...size, ref: keep(copied(value)) };
    },
    args: (args) => content("args", args),
    result: (result) => content("result", result),
    confirmArgs: (args) => fitted(redactContent(mask(args))),
    problems: (problems, answer) =>
      problems.map(({ path, message }) => {
        const value = answer === undefined ? undefined : valueAt(answer, path);
        return { path, message: message + shown(value) };
      }),
    detail({ rule, wanted, path, value }) {
      const place = path === undefined ? rule : `${path} ${rule}`;
      const ends = wanted !== undefined && (level === "redacted" || level === "full");
      return (ends ? `${place} ${beginning(copied(wanted))}` : place) + shown(value);
    },
  };
}

/** `hmac:` and HMAC-SHA-256 over the canonical JSON in hex. @see RFC 2104 */
export function hmacOf(value: Json, { key, sha256 }: Pick<AuditPorts, "key" | "sha256">): string {
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
