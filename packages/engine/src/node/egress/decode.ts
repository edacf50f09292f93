/**
 * The decoded body of an answer, chunk by chunk, within its limits.
 *   B1  Limits count decoded bytes.
 *   B2  After 1 MiB a body that is more than 100 times its transfer ends: it is made to fill memory.
 */
import type { IncomingMessage } from "node:http";
import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import type { Call } from "./call.ts";
import { networkFailed, tooLarge, undecodable } from "./refusal.ts";

const RATIO = 100; // text of one repeated line stays below; bombs are at 1000 and more
const RATIO_FROM_BYTES = 1_048_576;
const MAX_ENCODINGS = 3; // a list is legal (RFC 9110, 8.4), a long one is an attack

type Decoder = Transform & { readonly bytesWritten: number };

/** Chunks of the body; ends the call whichever way the reading ends. */
export async function* decodedBody(
  answer: IncomingMessage,
  call: Call,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    checkLength(answer, maxBytes);
    const decoders = await call.waiting(decodersFor(answer));
    const [first] = decoders;
    if (first !== undefined) pipeline([answer, ...decoders], ignore);
    const source: Readable = decoders.at(-1) ?? answer;
    const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer, void>;
    let bytes = 0;
    for (;;) {
      const next = await call.waiting(chunks.next());
      if (next.done === true) break;
      bytes += next.value.length;
      if (bytes > maxBytes) throw tooLarge(`the answer is larger than ${maxBytes} bytes`);
      if (first !== undefined && bytes > RATIO_FROM_BYTES && bytes > RATIO * first.bytesWritten) {
        throw tooLarge(`the answer grows more than ${RATIO} times when it is decoded`);
      }
      yield next.value;
    }
    // A stream that is destroyed before anybody listens ends without an error.
    call.check();
    if (!answer.complete) throw networkFailed(call.host, { code: "ECONNRESET" }, true);
  } catch (error) {
    throw call.reason(explained(error, answer, call.host));
  } finally {
    call.end();
    if (!answer.complete) answer.destroy();
  }
}

function checkLength(answer: IncomingMessage, maxBytes: number): void {
  const length = Number(answer.headers["content-length"] ?? 0);
  if (answer.headers["content-encoding"] === undefined && length > maxBytes) {
    throw tooLarge(`the answer has ${length} bytes, more than ${maxBytes}`);
  }
}

/** Decoders in the order in which they undo what the server did. */
async function decodersFor(answer: IncomingMessage): Promise<Decoder[]> {
  const names = (answer.headers["content-encoding"] ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity")
    .reverse();
  if (names.length > MAX_ENCODINGS) throw undecodable("the answer is encoded too many times");
  const decoders: Decoder[] = [];
  for (const name of names) {
    if (name === "gzip" || name === "x-gzip") decoders.push(createGunzip());
    else if (name === "br") decoders.push(createBrotliDecompress());
    else if (name === "deflate") decoders.push(await inflate(answer, decoders.length === 0));
    else throw undecodable(`the content encoding "${name.slice(0, 40)}" is not known here`);
  }
  return decoders;
}

/** `deflate` is zlib by the standard, and raw with some servers: the first byte tells. */
async function inflate(answer: IncomingMessage, first: boolean): Promise<Decoder> {
  if (!first) return createInflate();
  const head = (await firstByte(answer)) ?? 0x78;
  return (head & 0x0f) === 8 ? createInflate() : createInflateRaw();
}

function firstByte(answer: IncomingMessage): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    answer.once("error", reject);
    answer.once("readable", () => {
      answer.off("error", reject);
      const head = answer.read(1) as Buffer | null;
      if (head !== null) answer.unshift(head);
      resolve(head?.[0]);
    });
  });
}

function explained(error: unknown, answer: IncomingMessage, host: string): unknown {
  const { code } = error as { code?: unknown };
  if (error === answer.errored || code === "ECONNRESET" || code === "ERR_STREAM_PREMATURE_CLOSE") {
    return networkFailed(host, error, true);
  }
  const isZlib = typeof code === "string" && /^(?:Z_|ERR__|ERR_BROTLI)/.test(code);
  return isZlib ? undecodable(`the body is not what its content encoding says (${code})`) : error;
}

/** Errors of the pipeline arrive through the iterator too. */
function ignore(): void {}
