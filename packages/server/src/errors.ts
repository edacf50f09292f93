/** Errors that keep a server from starting, and refusals of requests. */
import { type ErrorCode, PROBLEMS, type Problem } from "@millrace/contracts";
import { pointerSegment } from "@millrace/contracts/kit";

const CONFIG = Symbol.for("@millrace/server.error.ConfigError");
const PROBLEM = Symbol.for("@millrace/server.error.ProblemError");

/**
 * `option_invalid`: an option is unknown or has a bad value. `open_bind_refused`: an address that others can reach, and no
 * token.
 */
export type ConfigErrorCode = "option_invalid" | "open_bind_refused";

/** The server does not start as it is configured. The message is one line that names the option. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code: ConfigErrorCode;

  constructor(code: ConfigErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    Object.defineProperty(this, CONFIG, { value: true });
    this.code = code;
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown): value is ConfigError {
    return typeof value === "object" && value !== null && CONFIG in value;
  }
}

/** The refusal of an option; `message` names it. */
export function badOption(message: string, cause?: unknown): ConfigError {
  return new ConfigError("option_invalid", message, cause === undefined ? {} : { cause });
}

/** Problems in one answer; more do not help. */
export const MAX_ERRORS = 100;

/** An issue of zod, as far as it is shown. */
interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

export function problemOfIssue({ code = "invalid", path, message }: Issue): Problem {
  return { pointer: path.map((part) => pointerSegment(String(part))).join(""), code, message };
}

/** Details of a refusal beyond its code. */
export interface ProblemOptions {
  /** One sentence about this occurrence; never a value that was sent, a path of the server or a secret. */
  readonly detail?: string | undefined;
  /** Places of the request that are wrong. */
  readonly errors?: readonly Problem[] | undefined;
  /** Members of this code alone, such as `state` or `lastSeq`. */
  readonly members?: { readonly [name: string]: unknown } | undefined;
  /** Headers of the answer, such as `Retry-After`. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  readonly cause?: unknown;
}

/** A request is refused; becomes a problem document. Thrown by command handlers and by `MillraceApp.invoke`. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly options: ProblemOptions;

  constructor(code: ErrorCode, options: ProblemOptions = {}) {
    super(options.detail ?? PROBLEMS[code].title, { cause: options.cause });
    Object.defineProperty(this, PROBLEM, { value: true });
    this.code = code;
    this.status = PROBLEMS[code].status;
    this.options = options;
  }

  /** Works across two copies of this package in one process, where `instanceof` does not. */
  static isInstance(value: unknown): value is ProblemError {
    return typeof value === "object" && value !== null && PROBLEM in value;
  }
}

/** The refusal of something that does not exist. `resource`: what it is, such as `run`. */
export function notFound(resource: string): ProblemError {
  return new ProblemError("not_found", { members: { resource } });
}

/** The value, which there is. Throws `not_found` for null and undefined. */
export function known<T>(value: T | null | undefined, resource: string): T {
  if (value === null || value === undefined) throw notFound(resource);
  return value;
}

/** The refusal of one argument. `pointer`: where it is, as JSON Pointer; `message`: what is wrong with it. */
export function invalidArg(pointer: string, message: string, code = "custom"): ProblemError {
  return new ProblemError("invalid_args", { errors: [{ pointer, code, message }] });
}
