/**
 * Reads JSON bodies: media type, length, bytes.
 * @see the server page, "The gate", rows 14 to 16
 */
import { ProblemError } from "../errors.ts";
import { awaitingContinue, type Exchange, type NodeBindings } from "./exchange.ts";
import { parseJson } from "./parse-json.ts";

/** The client went away in the middle of its body; nobody is left to be told. */
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
      action();
    };
    const onData = (chunk: Uint8Array) => {
      if (take(chunk)) return;
      incoming.pause();
      settle(() => resolve(false));
    };
    const onEnd = () => settle(() => resolve(true));
    const onClose = () => settle(() => reject(new ClientGoneError("the client left")));
    if (incoming.destroyed) return onClose();
    incoming.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
  });
}
