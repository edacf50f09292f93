/** What a manager of models refuses, as the server tells it. */
import { isErrorCode } from "@millrace/contracts/commands";
import { ProblemError } from "../errors.ts";

// The package may be absent, so its class is known by its mark alone.
const MARK = Symbol.for("@millrace/local-models.error.ModelError");
/** Seconds after which a busy model, or the memory that it waits for, may be free. */
const RETRY_AFTER_S = 5;
const MAY_PASS: ReadonlySet<string> = new Set(["model_busy", "model_out_of_memory"]);

/** The problem that `error` is when it comes from a manager; anything else as it is. Codes of jobs and processes are `model_unavailable`. */
export function fromModels(error: unknown): unknown {
  if (typeof error !== "object" || error === null || !(MARK in error)) return error;
  const { code, message } = error as unknown as { readonly code: string; readonly message: string };
  if (code === "not_found") {
    return new ProblemError("not_found", { members: { resource: "model" }, cause: error });
  }
  const known = isErrorCode(code) ? code : "model_unavailable";
  return new ProblemError(known, {
    detail: message,
    cause: error,
    ...(MAY_PASS.has(code) && { headers: { "Retry-After": `${RETRY_AFTER_S}` } }),
  });
}
