/**
 * Reads JSON bodies: media type, length, bytes.
 * @see the server page, "The gate", rows 14 to 16
 */
import { MAX_JSON_DEPTH } from "@millrace/contracts";
import { pointerSegment } from "@millrace/contracts/kit";
import { invalidArg, ProblemError } from "../errors.ts";
import { awaitingContinue, bodyReads, type Exchange, type NodeBindings } from "./exchange.ts";

/** The client left in the middle of its body, so there is no answer to send. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i;
const PATCH_TYPE =
  /^application\/(?:merge-patch\+)?json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i;

/** Room made for a body before its length is known; most are shorter. */
const FIRST_BYTES = 4_096;

/** Reads the body of a request as JSON; undefined when it has none. Throws `ProblemError`, `ClientGoneError`. */
export async function readJsonBody(exchange: Exchange, maxBytes: number): Promise<unknown> {
  checkEncoding(exchange);
  const type = exchange.header("content-type");
  if (type === undefined && exchange.bodyRead) return undefined;
  const allowed = exchange.method === "PATCH" ? PATCH_TYPE : JSON_TYPE;
  if (type === undefined || !allowed.test(type)) {
    throw new ProblemError("unsupported_media_type", { detail: "Send application/json in UTF-8" });
  }
  return parseJson(await readBytes(exchange, maxBytes));
}

/** Reads the body of a request as it was sent. Throws `ProblemError`, `ClientGoneError`. */
export async function readRawBody(exchange: Exchange, maxBytes: number): Promise<Uint8Array> {
  checkEncoding(exchange);
  return readBytes(exchange, maxBytes);
}

function checkEncoding(exchange: Exchange): void {
  if (exchange.header("content-encoding") === undefined) return;
  throw new ProblemError("unsupported_media_type", {
    detail: "Send the body without Content-Encoding",
  });
}

function tooLarge(maxBytes: number): ProblemError {
  return new ProblemError("body_too_large", { detail: `The limit is ${maxBytes} bytes` });
}

async function readBytes(exchange: Exchange, maxBytes: number): Promise<Uint8Array> {
  // Node has checked the syntax; a declared length is refused before a byte is read.
  if (Number(exchange.header("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  // Copied into one buffer: kept apart, a million chunks of one byte would cost hundreds of times their length.
  let buffer = Buffer.allocUnsafe(Math.min(maxBytes, FIRST_BYTES));
  let length = 0;
  const take = (chunk: Uint8Array): boolean => {
    const needed = length + chunk.byteLength;
    if (needed > maxBytes) return false;
    if (needed > buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(needed, buffer.length * 2)));
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    }
    buffer.set(chunk, length);
    length = needed;
    return true;
  };
  const whole =
    exchange.node === null
      ? await readWeb(exchange.web?.body ?? null, take)
      : await readIncoming(exchange.node, take);
  if (!whole) throw tooLarge(maxBytes);
  exchange.bodyRead = true;
  return buffer.subarray(0, length);
}

async function readWeb(
  body: ReadableStream<Uint8Array> | null,
  take: (chunk: Uint8Array) => boolean,
): Promise<boolean> {
  if (body === null) return true;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw new ClientGoneError("the body broke off", { cause });
    });
    if (done) return true;
    if (!take(value)) {
      await reader.cancel();
      return false;
    }
  }
}

/** Resolves false, and reads no further, at the first chunk that is not taken. */
function readIncoming(
  { incoming, outgoing }: NodeBindings,
  take: (chunk: Uint8Array) => boolean,
): Promise<boolean> {
  if (awaitingContinue.delete(incoming)) outgoing.writeContinue();
  return new Promise((resolve, reject) => {
    const settle = (action: () => void) => {
      incoming.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose);
      bodyReads.delete(incoming);
      action();
    };
    const onData = (chunk: Uint8Array) => {
      if (take(chunk)) return;
      incoming.pause();
      settle(() => resolve(false));
    };
    const onEnd = () => settle(() => resolve(true));
    const onClose = () => settle(() => reject(new ClientGoneError("the client left")));
    if (incoming.readableEnded) {
      return reject(new Error("the body was read before; mount the server before a body parser"));
    }
    if (incoming.destroyed) return onClose();
    incoming.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
    bodyReads.set(incoming, (error) => {
      incoming.pause();
      settle(() => reject(error));
    });
  });
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Parses bytes as JSON within the depth limit. Throws `bad_json`, `json_too_deep`, `invalid_args`. */
export function parseJson(bytes: Uint8Array): unknown {
  if (jsonDepth(bytes) > MAX_JSON_DEPTH) {
    throw new ProblemError("json_too_deep", { detail: `The limit is ${MAX_JSON_DEPTH} levels` });
  }
  let value: unknown;
  let text: string;
  try {
    // With `ignoreBOM` a byte order mark stays in the text, where JSON.parse refuses it.
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new ProblemError("bad_json");
  }
  // Cheap suspicion first: the key as it is, or any escape that could spell it.
  const pointer = /__proto__|\\u00/i.test(text) ? findProtoKey(value, "") : undefined;
  if (pointer !== undefined) {
    throw invalidArg(pointer, "the key __proto__ is not allowed", "key_refused");
  }
  return value;
}

/** Deepest nesting of brackets outside strings; says nothing about whether the text is JSON. */
function jsonDepth(bytes: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i] as number;
    if (inString) {
      if (byte === BACKSLASH) i += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1;
  }
  return deepest;
}

/** JSON Pointer of the first own key `__proto__`. The depth is limited, so recursion is safe. */
function findProtoKey(value: unknown, pointer: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const at = pointer + pointerSegment(key);
    const found = key === "__proto__" ? at : findProtoKey(child, at);
    if (found !== undefined) return found;
  }
  return undefined;
}
