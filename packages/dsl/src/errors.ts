/** Errors of the language: thrown only for values that a caller should have checked, never for text. */

const MARK = Symbol.for("@millrace/dsl.error.DslError");

/** Why an expression could not be compiled or evaluated. */
export type ExpressionErrorCode =
  | "syntax"
  | "type_mismatch"
  | "null_access"
  | "unknown_name"
  | "division_by_zero"
  | "number_range"
  | "bad_argument"
  | "budget_exceeded";

/** Why a change of a text cannot be made. */
export type EditErrorCode =
  | "edits_invalid"
  | "text_invalid"
  | "path_unknown"
  | "name_unknown"
  | "name_taken"
  | "name_invalid";

/** Why the package threw: a value that is no graph, a change that cannot be made, or an expression that failed. */
export type DslErrorCode = "graph_invalid" | EditErrorCode | ExpressionErrorCode;

/** Base of the package's errors; branch on `code`. */
export class DslError extends Error {
  override readonly name: string = "DslError";
  readonly code: DslErrorCode;
  readonly retryable = false;
  /** JSON Pointer of the bad place of a graph, with `graph_invalid`. */
  readonly pointer: string | undefined;

  constructor(code: DslErrorCode, message: string, options: { pointer?: string } = {}) {
    super(message);
    Object.defineProperty(this, MARK, { value: true });
    this.code = code;
    this.pointer = options.pointer;
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown): value is DslError {
    return typeof value === "object" && value !== null && MARK in value;
  }
}

/** An expression failed. The message names types and places, never values. */
export class ExpressionError extends DslError {
  override readonly name = "ExpressionError";
  declare readonly code: ExpressionErrorCode;
  /** Place in the source of the expression, UTF-16 units. */
  readonly offset: number;
  readonly length: number;

  constructor(code: ExpressionErrorCode, message: string, offset: number, length: number) {
    super(code, message);
    this.offset = offset;
    this.length = length;
  }
}
