/** The one error with a meaning that a node body may throw. */

const MARK = Symbol.for("@millrace/contracts.error.NodeError");

/** Optional members of a `NodeError`. */
export interface NodeErrorOptions {
  /** Whether the same call may succeed later; default false. */
  readonly retryable?: boolean;
  /** How long the other side asks to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Family of the error, matched by `retry.on` beside the code: `timeout network rate_limit server client denied …`. */
  readonly reason?: string;
  /** HTTP status. */
  readonly status?: number;
  /** False when nothing can have reached the other side. */
  readonly sent?: boolean;
  readonly cause?: unknown;
}

/** Fails a node with a `code` (snake_case, at most 64 characters). Any other throw counts as `extension_threw`. */
export class NodeError extends Error {
  override readonly name = "NodeError";
  readonly code: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly reason: string | undefined;
  readonly status: number | undefined;
  readonly sent: boolean | undefined;

  constructor(code: string, message: string, options: NodeErrorOptions = {}) {
    super(message, { cause: options.cause });
    Object.defineProperty(this, MARK, { value: true });
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.reason = options.reason;
    this.status = options.status;
    this.sent = options.sent;
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown): value is NodeError {
    return typeof value === "object" && value !== null && MARK in value;
  }
}
