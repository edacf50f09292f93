/** `fail`: ends in failure, on purpose. */
import { NodeError } from "@millrace/contracts";
import type { NodeType } from "../node-type.ts";
import { coreEntry } from "./entry.ts";

const CODE = "^[a-z][a-z0-9_]{0,63}$";

/** Error codes that the engine gives a meaning. */
const ENGINE_CODES: ReadonlySet<string> = new Set(
  [
    "timeout interrupted network dns tls http_status egress_denied file_denied",
    "program_denied capability_denied host_unsupported expression_error field_invalid",
    "input_invalid file_not_found file_exists operation_unknown output_schema",
    "output_not_json output_too_deep decode_failed exit_status spawn_failed",
    "retry_condition limit_exceeded nesting_too_deep output_too_large response_too_large",
    "file_too_large disk_full credentials_missing credentials_expired no_refresh_token",
    "unavailable provider_unavailable model_unavailable confirm_rejected confirm_expired",
    "item_failed subflow_failed internal extension_threw attempt_over resume_impossible",
    "crash_loop run_timeout",
  ].flatMap((codes) => codes.split(" ")),
);

/** Whether a code means something to the engine; `ai_…` codes all do. */
function isEngineCode(code: string): boolean {
  return ENGINE_CODES.has(code) || code.startsWith("ai_");
}

/** `fail`: ends the flow with a code of the author's. */
export const fail: NodeType = {
  core: true,
  entry: coreEntry({
    type: "fail",
    title: "Fail",
    summary: "Fails with a message and a code of its own.",
    category: "control",
    properties: {
      message: { type: "string", description: "What went wrong, for people." },
      code: {
        type: "string",
        pattern: CODE,
        default: "failed",
        description: "What went wrong, for programs: lower-case letters, digits and _.",
      },
    },
    required: ["message"],
    output: { not: {} },
    example: { title: "Nothing to do", fields: { message: "Nothing to do" } },
  }),
  check(fields) {
    const code = fields["code"];
    if (typeof code !== "string" || !isEngineCode(code)) return [];
    const message = `the code ${code} belongs to the engine; choose one of your own`;
    return [{ pointer: "/code", code: "field_invalid", message, severity: "error" }];
  },
  run(fields) {
    const code = fields["code"] as string;
    throw new NodeError(isEngineCode(code) ? "failed" : code, fields["message"] as string);
  },
};
