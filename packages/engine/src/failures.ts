/** Errors of node bodies as failures: what an event may show of them, and what retries ask for. */
import { cutText, NodeError, NotJsonError } from "@millrace/contracts";
import { DslError } from "@millrace/dsl";
import type { Failure } from "./node-type.ts";

const MESSAGE_UNITS = 2_048; // of an error on an event
const CODE = /^[a-z][a-z0-9_]{0,63}$/;

/** A failure that the engine itself finds. */
export function failureOf(
  code: string,
  message: string,
  options: { reason?: string; retryable?: boolean; cause?: string } = {},
): Failure {
  const { retryable = false, cause } = options;
  const text = cutText(message, MESSAGE_UNITS).text;
  const info = { code, message: text, retryable };
  return {
    info: cause === undefined ? info : { ...info, cause },
    reason: options.reason,
  };
}

/** A limit of one node, by its name in `Limits`. */
export function limitFailure(name: string, detail: string): Failure {
  return failureOf("limit_exceeded", `limit ${name}: ${detail}`, { reason: "limit" });
}

/** The failure of an attempt that took too long. */
export function timeoutFailure(timeoutMs: number | null): Failure {
  return failureOf("timeout", `the attempt took longer than ${timeoutMs} ms`, {
    reason: "timeout",
    retryable: true,
  });
}

/**
 * The failure of a node whose body threw. Only `NodeError` and errors of the language keep their message; that of anything
 * else may hold a secret, so only its class is named. `core`: the code is the engine's own; `type`: the node type that threw.
 */
export function toFailure(
  thrown: unknown,
  options: { readonly core?: boolean; readonly type?: string } = {},
): Failure {
  const known = knownFailure(thrown);
  if (known !== null) return known;
  const { core = false, type = "the node's code" } = options;
  return core
    ? failureOf("internal", `the engine's own code threw ${classOf(thrown)}`, {
        reason: "internal",
      })
    : failureOf(
        "extension_threw",
        `${type} threw ${classOf(thrown)}; its message is withheld from the log: see onError, or run with --verbose`,
        { reason: "internal" },
      );
}

/** The failure of an error that speaks for itself; null: what was thrown is withheld from the log. */
export function knownFailure(thrown: unknown): Failure | null {
  try {
    return ofKnownError(thrown);
  } catch {
    return null; // a proxy or a getter that throws when it is read
  }
}

const CLASS = /^[A-Za-z_$][\w$]{0,63}$/;

/** `TypeError`: never a text that the code has made. */
function classOf(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return "a value that is no Error";
    return CLASS.test(thrown.name) ? thrown.name : "an error";
  } catch {
    return "an error";
  }
}

function ofKnownError(thrown: unknown): Failure | null {
  if (FailureError.isInstance(thrown)) return thrown.failure;
  if (NodeError.isInstance(thrown)) return ofNodeError(thrown);
  if (DslError.isInstance(thrown)) {
    return failureOf("expression_error", thrown.message, { reason: "input", cause: thrown.code });
  }
  if (NotJsonError.isInstance(thrown)) {
    return failureOf(thrown.code, thrown.message, { reason: "output" });
  }
  return null;
}

function ofNodeError(error: NodeError): Failure {
  const code = codeOf(error.code) ?? "extension_threw";
  const { status, retryable, reason, retryAfterMs, sent } = error;
  const cause = codeOf(error.cause);
  const info = {
    code,
    message: cutText(String(error.message), MESSAGE_UNITS).text,
    retryable: retryable === true,
    ...(typeof status === "number" && Number.isInteger(status) && status >= 0 && { status }),
    ...(cause !== undefined && { cause }),
  };
  // A header that is no number makes it NaN: no pause is asked for.
  return { info, reason, retryAfterMs: Number(retryAfterMs) >= 0 ? retryAfterMs : undefined, sent };
}

function codeOf(cause: unknown): string | undefined {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : cause;
  return typeof code === "string" && CODE.test(code) ? code : undefined;
}

const MARK = Symbol.for("@millrace/engine.FailureError");

/** Carries a failure through a promise, whole. */
export class FailureError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.info.message);
    Object.defineProperty(this, MARK, { value: true });
    this.failure = failure;
  }

  static isInstance(value: unknown): value is FailureError {
    return typeof value === "object" && value !== null && MARK in value;
  }
}
