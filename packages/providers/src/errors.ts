/** The error of this package. Calls of models and tools throw `NodeError`. */

const MARK = Symbol.for("@millrace/providers.error.ProvidersError");

/**
 * `settings_invalid`: a setting is invalid; the message names it. `fixture_invalid`: a file of recorded answers
 * cannot be read.
 */
export type ProvidersErrorCode = "settings_invalid" | "fixture_invalid";

/** Something that the operator, or the author of a test, has to change. Never retryable. */
export class ProvidersError extends Error {
  override readonly name = "ProvidersError";
  readonly code: ProvidersErrorCode;
  readonly retryable = false;

  constructor(code: ProvidersErrorCode, message: string) {
    super(message);
    Object.defineProperty(this, MARK, { value: true });
    this.code = code;
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown): value is ProvidersError {
    return typeof value === "object" && value !== null && MARK in value;
  }
}
