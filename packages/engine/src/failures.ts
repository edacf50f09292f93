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

/**
 * What a body threw. Only `NodeError` and errors of the language speak for themselves; the message of anything else may
 * hold what nobody should see, so it is not shown. `core`: the code is ours.
 */
export function toFailure(thrown: unknown, options: { core?: boolean } = {}): Failure {
  try {
    const told = ofKnownError(thrown);
    if (told !== null) return told;
  } catch {
    // a proxy or a getter that throws when it is looked at says nothing of itself
  }
  return options.core === true
    ? failureOf("internal", "the engine's own code failed", { reason: "internal" })
    : failureOf("extension_threw", "the node's code threw an error without a code", {
        reason: "internal",
      });
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
  const code = CODE.test(error.code) ? error.code : "extension_threw";
  const { status, retryable, reason, retryAfterMs, sent } = error;
  const cause = codeOf(error.cause);
  const info = {
    code,
    message: cutText(String(error.message), MESSAGE_UNITS).text,
    retryable: retryable === true,
    ...(typeof status === "number" && { status }),
    ...(cause !== undefined && { cause }),
  };
  return { info, reason, retryAfterMs, sent };
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
