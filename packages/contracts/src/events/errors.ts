/** Errors of reading events. */

const MARK = Symbol.for("@millrace/contracts.error.EventParseError");

/** `event_malformed`: no event of any version. `event_version_unsupported`: an event of a version this reader does not know. */
export type EventParseErrorCode = "event_malformed" | "event_version_unsupported";

/** A line or a path is not what it should be; the message says where, and never quotes the text. */
export class EventParseError extends Error {
  override readonly name = "EventParseError";
  readonly code: EventParseErrorCode;
  readonly retryable = false;

  constructor(code: EventParseErrorCode, message: string) {
    super(message);
    Object.defineProperty(this, MARK, { value: true });
    this.code = code;
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown): value is EventParseError {
    return typeof value === "object" && value !== null && MARK in value;
  }
}
