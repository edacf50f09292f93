/**
 * One end of the line between host and child.
 *   P1  every request is answered once, or rejected when the line ends.
 *   P2  ids count per direction; an unexpected frame is counted and dropped.
 *   P3  a frame has at most 16 MiB.
 *   P4  whatever comes, nothing is thrown: the other end may be hostile.
 */
import { NodeError, type NodeErrorOptions } from "@millrace/contracts";

const MAX_OPEN = 1_024; // requests of the other end at once; more is a loop without an await
const MAX_MESSAGE = 2_048; // characters of an error; more is a log
const MAX_NAME = 64; // characters of the class of an error
const MAX_STACK = 16_384; // characters; Node keeps ten frames

/** A message as it crosses. */
export interface Frame {
  readonly id?: number;
  readonly op?: string;
  readonly ok?: boolean;
  readonly result?: unknown;
  readonly error?: WireError;
  readonly [member: string]: unknown;
}

/** A `NodeError` as it crosses. */
export interface WireError {
  readonly code: string;
  readonly message: string;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  readonly reason?: string;
  readonly status?: number;
  readonly sent?: boolean;
  /** Code of the cause, which is all that crosses of it. */
  readonly cause?: string;
  /** Of what is no `NodeError`, from a child alone: for `onError` of the host, never for a log. */
  readonly thrown?: { readonly name: string; readonly message: string; readonly stack: string };
}

export interface PeerHandlers {
  /** Answers a request; `undefined` in place of a promise: the operation is unknown. */
  request(op: string, frame: Frame): Promise<unknown> | undefined;
  /** Takes a message without an answer; false: it is unknown. */
  notify(op: string, frame: Frame): boolean;
  /** A frame was dropped. */
  dropped(): void;
  /** A child shows its host what its code threw; a host shows a child nothing. */
  readonly showsThrown?: boolean;
}

export class Peer {
  readonly #post: (frame: Frame) => void;
  readonly #handlers: PeerHandlers;
  readonly #waiting: Map<number, { done(value: unknown): void; fail(error: unknown): void }> =
    new Map();
  #next = 1;
  #open = 0;
  #ended: unknown;

  constructor(post: (frame: Frame) => void, handlers: PeerHandlers) {
    this.#post = post;
    this.#handlers = handlers;
  }

  /** Sends a request and answers what comes back. `began` is told its id before anything can come back. */
  request(op: string, body: object, began?: (id: number) => void): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const id = this.#next;
    this.#next += 1;
    return new Promise((done, fail) => {
      this.#waiting.set(id, { done, fail });
      try {
        began?.(id);
        this.#post({ id, op, ...body });
      } catch (error) {
        this.#waiting.delete(id);
        fail(error);
      }
    });
  }

  /** Sends a message without an answer. */
  tell(op: string, body: object): void {
    if (this.#ended === undefined) this.#post({ op, ...body });
  }

  receive(message: unknown): void {
    const frame = (typeof message === "object" && message !== null ? message : {}) as Frame;
    if (typeof frame.op === "string") this.#asked(frame.op, frame);
    else this.#answered(frame);
  }

  /** The line is gone: everything that waits fails with `error`. */
  end(error: unknown): void {
    this.#ended ??= error;
    for (const { fail } of this.#waiting.values()) fail(error);
    this.#waiting.clear();
  }

  #asked(op: string, frame: Frame): void {
    const { id } = frame;
    if (id === undefined) {
      if (!this.#handlers.notify(op, frame)) this.#handlers.dropped();
      return;
    }
    if (this.#open >= MAX_OPEN) {
      const text = `more than ${MAX_OPEN} requests of an extension are open`;
      const error = this.#wireError(new NodeError("limit_exceeded", text, { reason: "limit" }));
      this.#reply({ id, ok: false, error });
      return;
    }
    let answer: Promise<unknown> | undefined;
    try {
      answer = this.#handlers.request(op, frame);
    } catch (error) {
      answer = Promise.reject(error);
    }
    if (answer === undefined) {
      this.#handlers.dropped();
      return;
    }
    this.#open += 1;
    const reply = (frame: Frame): void => {
      this.#open -= 1;
      this.#reply(frame);
    };
    answer.then(
      (result) => reply({ id, ok: true, ...(result !== undefined && { result }) }),
      (error: unknown) => reply({ id, ok: false, error: this.#wireError(error) }),
    );
  }

  #reply(frame: Frame): void {
    if (this.#ended !== undefined) return;
    try {
      this.#post(frame);
    } catch (error) {
      this.#post({ id: frame.id as number, ok: false, error: this.#wireError(error) });
    }
  }

  #wireError(thrown: unknown): WireError {
    return toWireError(thrown, this.#handlers.showsThrown === true);
  }

  #answered({ id, ok, result, error }: Frame): void {
    const waiting = this.#waiting.get(id as number);
    if (waiting === undefined) {
      this.#handlers.dropped();
      return;
    }
    this.#waiting.delete(id as number);
    if (ok === true) waiting.done(result);
    else waiting.fail(fromWireError(error));
  }
}

/** A `NodeError` crosses as it is; anything else crosses only where it is shown. */
function toWireError(thrown: unknown, shows: boolean): WireError {
  if (!NodeError.isInstance(thrown)) {
    const error = { code: "extension_threw", message: "the code threw" };
    return shows ? { ...error, thrown: described(thrown) } : error;
  }
  const { code, message, retryable, retryAfterMs, reason, status, sent } = thrown;
  const cause = (thrown.cause as { code?: unknown } | null | undefined)?.code;
  return {
    code: String(code),
    message: String(message),
    retryable: retryable === true,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(reason !== undefined && { reason }),
    ...(status !== undefined && { status }),
    ...(sent !== undefined && { sent }),
    ...(typeof cause === "string" && { cause }),
  };
}

/** A thrown value that is no `Error` has no name. */
function described(thrown: unknown): NonNullable<WireError["thrown"]> {
  const cut = (value: unknown, max: number): string => String(value).slice(0, max);
  try {
    if (!(thrown instanceof Error))
      return { name: "", message: cut(thrown, MAX_MESSAGE), stack: "" };
    const { name, message, stack } = thrown;
    return {
      name: cut(name, MAX_NAME) || "Error",
      message: cut(message, MAX_MESSAGE),
      stack: cut(stack, MAX_STACK),
    };
  } catch {
    return { name: "", message: "a value that has no text", stack: "" };
  }
}

/** Every member is looked at: a value without a text throws where it is made one. */
function fromWireError(error: unknown): unknown {
  const given = (error ?? {}) as { readonly [M in keyof WireError]?: unknown };
  const { code, message, retryAfterMs, reason, status, sent, retryable, cause, thrown } = given;
  if (typeof thrown === "object" && thrown !== null) return fromDescribed(thrown);
  const options: NodeErrorOptions = {
    retryable: retryable === true,
    ...(typeof retryAfterMs === "number" && { retryAfterMs }),
    ...(typeof reason === "string" && { reason }),
    ...(typeof status === "number" && { status }),
    ...(typeof sent === "boolean" && { sent }),
    ...(typeof cause === "string" && { cause: { code: cause } }),
  };
  return new NodeError(
    typeof code === "string" && CODE.test(code) ? code : "extension_threw",
    typeof message === "string" ? message.slice(0, MAX_MESSAGE) : "the node's code threw",
    options,
  );
}

/** The error of a child, with the stack that it had there; a text for what was no error. */
function fromDescribed(thrown: object): unknown {
  const given = thrown as { readonly [M in "name" | "message" | "stack"]?: unknown };
  const text = (value: unknown, max: number): string =>
    typeof value === "string" ? value.slice(0, max) : "";
  const message = text(given.message, MAX_MESSAGE);
  if (given.name === "") return message;
  const error = new Error(message);
  error.name = text(given.name, MAX_NAME) || "Error";
  error.stack = text(given.stack, MAX_STACK) || `${error.name}: ${message}`;
  return error;
}

const CODE = /^[a-z][a-z0-9_]{0,63}$/;
