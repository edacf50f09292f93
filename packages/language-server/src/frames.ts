/**
 * Frames of JSON-RPC: the reader and writer in front of `vscode-languageserver`. The library trusts its client; this does not.
 *   F1  every request has exactly one answer, whenever it comes and whatever is in it.
 *   F2  after a header that gives no usable length it is not known where a frame begins: the stream ends there.
 * @see Language Server Protocol 3.17, "Base Protocol"
 */

import {
  AbstractMessageReader,
  AbstractMessageWriter,
  type DataCallback,
  type Disposable,
  ErrorCodes,
  Message,
  type MessageReader,
  type MessageWriter,
} from "vscode-languageserver/node";
import { wrongParams } from "./params.ts";

/** Longest header block: clients send two short lines. */
const MAX_HEADER_BYTES = 8192;
/** Longest message: a text of the largest size that is read, written with escapes. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const HEADER_END = Buffer.from("\r\n\r\n");

/** A stream of bytes in; a Node stream is one. */
export type ByteSource = AsyncIterable<Uint8Array>;

/** Receiver of bytes; a Node stream is one. */
export interface ByteSink {
  write(bytes: Uint8Array): unknown;
}

/** Writes each message as one frame. */
export class FrameWriter extends AbstractMessageWriter implements MessageWriter {
  /** Ids of the requests that were handed on and wait for their answer. */
  readonly asked: Set<string | number> = new Set();
  readonly #sink: ByteSink;

  constructor(sink: ByteSink) {
    super();
    this.#sink = sink;
  }

  async write(message: Message): Promise<void> {
    if (Message.isResponse(message) && message.id !== null) this.asked.delete(message.id);
    const body = Buffer.from(JSON.stringify(message), "utf8");
    this.#sink.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
  }

  /** Answers with an error. */
  refuse(id: string | number | null, code: number, message: string): void {
    void this.write({ jsonrpc: "2.0", id, error: { code, message } } as Message);
  }

  end(): void {}
}

/** A message before its form has been checked. */
interface Received {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

type Phase = "new" | "running" | "shut-down";

/** Reads frames, answers what the library must not see, and hands on the rest. */
export class FrameReader extends AbstractMessageReader implements MessageReader {
  readonly #source: ByteSource;
  readonly #writer: FrameWriter;
  readonly #end: (code: number) => void;
  readonly #log: (line: string) => void;
  #phase: Phase = "new";

  /** `end` is called once, with the exit code that the protocol asks for; `log` is told why, and what is dropped. */
  constructor(
    source: ByteSource,
    writer: FrameWriter,
    end: (code: number) => void,
    log: (line: string) => void,
  ) {
    super();
    this.#source = source;
    this.#writer = writer;
    this.#end = end;
    this.#log = log;
  }

  listen(callback: DataCallback): Disposable {
    let isOpen = true;
    const close = (code: number, reason?: string): void => {
      if (!isOpen) return;
      isOpen = false;
      if (reason !== undefined) this.#log(reason);
      this.#end(code);
      this.fireClose();
    };
    const run = async (): Promise<void> => {
      const frames = new FrameBuffer();
      for await (const chunk of this.#source) {
        if (!isOpen) return;
        frames.add(chunk);
        for (let body = frames.next(); body !== undefined; body = frames.next()) {
          if (this.#take(body, callback)) return close(this.#phase === "shut-down" ? 0 : 1);
        }
        if (frames.problem !== undefined) return close(1, frames.problem);
      }
      close(this.#phase === "shut-down" ? 0 : 1);
    };
    run().catch((error: unknown) => close(1, `reading failed: ${String(error)}`));
    return { dispose: () => close(1) };
  }

  /** Takes the body of a frame; true for `exit`. */
  #take(body: Uint8Array, callback: DataCallback): boolean {
    let message: unknown;
    try {
      message = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    } catch {
      this.#writer.refuse(null, ErrorCodes.ParseError, "the message is no JSON in UTF-8");
      return false;
    }
    if (typeof message !== "object" || message === null || Array.isArray(message)) {
      this.#writer.refuse(null, ErrorCodes.InvalidRequest, "a message is one JSON object");
      return false;
    }
    const received = message as Received;
    const { id, method } = received;
    if (method === "exit" && id === undefined) return true;
    const refusal = this.#refusalOf(received);
    if (refusal !== undefined) {
      const [code, why] = refusal;
      // A notification has no answer.
      if (id === undefined && typeof method === "string") this.#log(why);
      else this.#writer.refuse(idOf(id), code, why);
      return false;
    }
    if (id !== undefined && method !== undefined) this.#writer.asked.add(id as string | number);
    if (method === "initialize") this.#phase = "running";
    else if (method === "shutdown" && id !== undefined) this.#phase = "shut-down";
    callback(message as Message);
    return false;
  }

  /** Why a message is not handed on. */
  #refusalOf(message: Received): readonly [code: number, why: string] | undefined {
    const { id, method, params } = message;
    if (method === undefined) {
      if (!("result" in message) && !("error" in message)) {
        return [ErrorCodes.InvalidRequest, "a message has a `method` or a `result`"];
      }
      if (this.#phase === "running") return undefined;
      return [ErrorCodes.InvalidRequest, "nothing was asked of the client"];
    }
    if (typeof method !== "string") return [ErrorCodes.InvalidRequest, "`method` is a string"];
    if (id !== undefined && idOf(id) === null) {
      return [ErrorCodes.InvalidRequest, "the `id` of a request is a string or a number"];
    }
    const isInitialize = method === "initialize" && id !== undefined;
    if (this.#phase === "shut-down") {
      return [ErrorCodes.InvalidRequest, `${method} after \`shutdown\``];
    }
    if (this.#phase === "new" && !isInitialize) {
      return [ErrorCodes.ServerNotInitialized, `${method} before \`initialize\``];
    }
    if (this.#phase === "running" && isInitialize) {
      return [ErrorCodes.InvalidRequest, "the server is initialized already"];
    }
    if (id !== undefined && this.#writer.asked.has(id as string | number)) {
      return [
        ErrorCodes.InvalidRequest,
        `the request with id ${JSON.stringify(id)} is not answered yet`,
      ];
    }
    const wrong = wrongParams(method, params);
    return wrong === undefined ? undefined : [ErrorCodes.InvalidParams, wrong];
  }
}

function idOf(id: unknown): string | number | null {
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/** Bytes as they come, and the bodies of whole frames. */
class FrameBuffer {
  #chunks: Buffer[] = [];
  #size = 0;
  /** Bytes of the body that is read; undefined: a header comes next. */
  #wanted: number | undefined;
  /** Why the stream cannot be read any further. */
  problem: string | undefined;

  add(chunk: Uint8Array): void {
    this.#chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    this.#size += chunk.byteLength;
  }

  /** The body of the next frame, once all of it is there. */
  next(): Uint8Array | undefined {
    if (this.problem !== undefined) return undefined;
    if (this.#wanted === undefined && !this.#readHeader()) return undefined;
    const wanted = this.#wanted as number;
    if (this.#size < wanted) return undefined;
    this.#wanted = undefined;
    return this.#cut(wanted, 0);
  }

  /** Takes `length` bytes off, and `behind` more. The chunks are put together once a frame, not once a chunk. */
  #cut(length: number, behind: number): Buffer {
    const all = this.#whole();
    const rest = all.subarray(length + behind);
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#size = rest.length;
    return all.subarray(0, length);
  }

  #whole(): Buffer {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] as Buffer;
  }

  #readHeader(): boolean {
    if (this.#size === 0) return false;
    const end = this.#whole().indexOf(HEADER_END);
    if (end > MAX_HEADER_BYTES || (end === -1 && this.#size > MAX_HEADER_BYTES)) {
      this.problem = `a header is longer than ${MAX_HEADER_BYTES} bytes`;
      return false;
    }
    if (end === -1) return false;
    const header = this.#cut(end, HEADER_END.length).toString("latin1");
    const length = /^content-length[ \t]*:[ \t]*(\d{1,15})[ \t]*$/im.exec(header)?.[1];
    if (length === undefined) this.problem = "a header has no usable Content-Length";
    else if (Number(length) > MAX_BODY_BYTES) {
      this.problem = `a message is longer than ${MAX_BODY_BYTES} bytes`;
    } else this.#wanted = Number(length);
    return this.problem === undefined;
  }
}
