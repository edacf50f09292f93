/** Error codes that the engine gives a meaning, by the family (`reason`) that `retry.on` may also name. */

const ENGINE_CODES: { readonly [reason: string]: readonly string[] } = {
  timeout: ["timeout"],
  interrupted: ["interrupted"],
  network: ["network", "dns", "tls"],
  client: ["http_status"],
  denied: [
    "egress_denied",
    "file_denied",
    "program_denied",
    "capability_denied",
    "host_unsupported",
  ],
  input: [
    "expression_error",
    "field_invalid",
    "input_invalid",
    "file_not_found",
    "file_exists",
    "operation_unknown",
  ],
  output: [
    "output_schema",
    "output_not_json",
    "output_too_deep",
    "decode_failed",
    "exit_status",
    "spawn_failed",
    "retry_condition",
  ],
  limit: [
    "limit_exceeded",
    "nesting_too_deep",
    "output_too_large",
    "response_too_large",
    "file_too_large",
    "disk_full",
  ],
  auth: ["credentials_missing", "credentials_expired", "no_refresh_token"],
  unavailable: ["unavailable", "provider_unavailable", "model_unavailable"],
  confirm: ["confirm_rejected", "confirm_expired"],
  child: ["item_failed", "subflow_failed"],
  internal: [
    "internal",
    "extension_threw",
    "attempt_over",
    "resume_impossible",
    "crash_loop",
    "run_timeout",
  ],
};

const ALL: ReadonlySet<string> = new Set(Object.values(ENGINE_CODES).flat());

/** Whether a code means something to the engine; `ai_…` codes all do. */
export function isEngineCode(code: string): boolean {
  return ALL.has(code) || code.startsWith("ai_");
}
