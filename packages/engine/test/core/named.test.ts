// No promise of a code or of a limit without a behaviour behind it: each has a test of the engine or of its packs that expects it by name.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DEFAULT_LIMITS, type EngineErrorCode } from "@millrace/engine";
import { expect, test } from "vitest";

/** Codes of nodes and runs. Those of models (`ai_…`, `provider_unavailable`, `model_unavailable`) are in the package of models. */
const NODE_CODES = `
timeout interrupted network dns tls http_status egress_denied file_denied program_denied capability_denied host_unsupported
expression_error field_invalid input_invalid file_not_found file_exists operation_unknown output_schema output_not_json
output_too_deep decode_failed exit_status spawn_failed retry_condition limit_exceeded nesting_too_deep output_too_large
response_too_large file_too_large disk_full credentials_missing credentials_expired no_refresh_token unavailable
confirm_rejected confirm_expired item_failed subflow_failed internal extension_threw attempt_over resume_impossible
crash_loop run_timeout`.trim();

const ENGINE_CODES: { readonly [C in EngineErrorCode]: true } = {
  input_invalid: true,
  flow_invalid: true,
  plan_mismatch: true,
  run_exists: true,
  run_not_found: true,
  run_not_resumable: true,
  registry_duplicate: true,
  registry_invalid: true,
  engine_closed: true,
  run_left: true,
  journal_failed: true,
  lease_lost: true,
};

const here = fileURLToPath(import.meta.url);
const sources = ["..", "../../../services/test"]
  .map((folder) => fileURLToPath(new URL(folder, import.meta.url)))
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => join(folder, path)),
  )
  .filter((path) => path !== here)
  .map((path) => readFileSync(path, "utf8"))
  .join("\n");

const names = [
  ...NODE_CODES.split(/\s+/),
  ...Object.keys(ENGINE_CODES),
  ...Object.keys(DEFAULT_LIMITS),
];

test.each([...new Set(names)])("some test expects %s", (name) => {
  const literal = new RegExp(`(["'\`]|\\b(?:limit|a|run) )${name}\\b|\\b${name}:`);
  expect(literal.test(sources)).toBe(true);
});
