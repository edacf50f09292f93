/** The error of a definition or of an extension that cannot be used. */

const MARK = Symbol.for("@millrace/contracts.error.ExtensionError");

/** `extension_definition_invalid`: what a `defineX` function was given breaks a rule of its seam. */
export type ExtensionErrorCode = "extension_definition_invalid";

/** Says what is wrong with an extension and where. Never retryable: the code or the data must change. */
export class ExtensionError extends Error {
  override readonly name = "ExtensionError";
  readonly code: ExtensionErrorCode;
  readonly retryable = false;
  /** JSON Pointer into what was defined. */
  readonly pointer: string;

  constructor(
    code: ExtensionErrorCode,
    message: string,
    options: { pointer?: string; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    Object.defineProperty(this, MARK, { value: true });
    this.code = code;
    this.pointer = options.pointer ?? "";
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown): value is ExtensionError {
    return typeof value === "object" && value !== null && MARK in value;
  }
}
