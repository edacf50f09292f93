/** Problem documents: what HTTP answers, and every surface shows, when a command fails. @see RFC 9457 */
import type { Problem } from "../ports.ts";

/** Status and title of every code. The set is closed: a reader may switch over it. */
export const PROBLEMS = {
  bad_target: { status: 400, title: "The request target is not a plain path" },
  bad_header: { status: 400, title: "A header is not allowed or is there twice" },
  bad_host: { status: 400, title: "The Host header is missing or malformed" },
  bad_json: { status: 400, title: "The body is not JSON" },
  json_too_deep: { status: 400, title: "The JSON is nested too deep" },
  bad_cursor: { status: 400, title: "The position is not one that this list gave out" },
  bad_idempotency_key: { status: 400, title: "The idempotency key is malformed" },
  unauthorized: { status: 401, title: "A valid bearer token is needed" },
  host_not_allowed: { status: 403, title: "This host name is not allowed" },
  origin_not_allowed: { status: 403, title: "This origin is not allowed" },
  forbidden: { status: 403, title: "The role of the token does not allow this" },
  route_not_found: { status: 404, title: "There is no such route" },
  not_found: { status: 404, title: "There is no such resource" },
  method_not_allowed: { status: 405, title: "The route does not know this method" },
  request_timeout: { status: 408, title: "The request did not arrive in time" },
  state_conflict: { status: 409, title: "The resource is not in a state that allows this" },
  already_exists: { status: 409, title: "A resource of this name exists" },
  already_resolved: { status: 409, title: "The confirmation was answered before" },
  idempotency_in_flight: { status: 409, title: "The first request with this key is still at work" },
  ahead_of_journal: { status: 409, title: "The position is after the last event" },
  in_use: { status: 409, title: "The resource is in use" },
  operator_required: { status: 409, title: "Only the operator can do this, on the machine itself" },
  confirmation_expired: { status: 410, title: "The deadline of the confirmation has passed" },
  etag_mismatch: { status: 412, title: "The resource has changed" },
  body_too_large: { status: 413, title: "The body is too large" },
  unsupported_media_type: {
    status: 415,
    title: "The media type or encoding of the body is not supported",
  },
  expectation_failed: { status: 417, title: "The expectation cannot be met" },
  invalid_args: { status: 422, title: "The arguments do not fit the command" },
  run_input_conflict: { status: 422, title: "Give exactly one of graph, template, dsl" },
  flow_invalid: { status: 422, title: "The flow is not valid" },
  input_invalid: { status: 422, title: "The inputs do not fit the flow" },
  value_invalid: { status: 422, title: "The value does not fit the schema of the answer" },
  idempotency_mismatch: { status: 422, title: "The key was used with other arguments" },
  stream_only: { status: 422, title: "The command only streams" },
  hub_rejected: { status: 422, title: "The hub does not hold what it claims" },
  digest_mismatch: { status: 422, title: "The content does not have the expected digest" },
  digest_required: { status: 422, title: "A digest is needed" },
  precondition_required: { status: 428, title: "A change needs If-Match" },
  too_many_runs: { status: 429, title: "Too many runs are waiting" },
  too_many_requests: { status: 429, title: "Too many requests" },
  headers_too_large: { status: 431, title: "The headers are too large" },
  internal: { status: 500, title: "An internal error happened" },
  command_not_wired: { status: 501, title: "The command is not available here" },
  upstream_failed: { status: 502, title: "The other side failed" },
  run_failed: { status: 502, title: "The run did not succeed" },
  draining: { status: 503, title: "The server is shutting down" },
  too_many_streams: { status: 503, title: "Too many streams are open" },
  store_unavailable: { status: 503, title: "The store is not available" },
  store_read_only: { status: 503, title: "The store is read-only" },
  credential_store_unavailable: { status: 503, title: "The credential store is not available" },
  executor_unavailable: { status: 503, title: "Runs cannot be executed now" },
  reconnect_service: { status: 503, title: "The service must be connected again" },
  model_busy: { status: 503, title: "The model is busy" },
  model_unavailable: { status: 503, title: "The model is not available" },
  models_locked: { status: 503, title: "Another process manages the models" },
  upstream_timeout: { status: 504, title: "The other side did not answer in time" },
  store_full: { status: 507, title: "The store is full" },
  disk_full: { status: 507, title: "The disk is full" },
  model_out_of_memory: { status: 507, title: "There is not enough memory for the model" },
} as const;

/** Every code of a problem document. */
export type ErrorCode = keyof typeof PROBLEMS;

/**
 * A problem document (`application/problem+json`). Members beyond these belong to single codes: `resource`, `state`,
 * `outcome`, `lastSeq`. Never a stack, a path of the server, a value that was sent, or a secret.
 */
export interface ProblemDocument {
  /** `https://millrace.dev/problems/<code>`. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  /** Pattern of the route, such as `/api/runs/:runId`. */
  readonly instance?: string;
  readonly code: ErrorCode;
  readonly requestId: string;
  readonly errors?: readonly Problem[];
  readonly [member: string]: unknown;
}

/** Texts of a problem document, for people. */
interface ProblemText {
  readonly title: string;
  readonly detail?: string;
  readonly errors?: readonly Problem[];
}

/**
 * Makes the problem document of a code; absent members are left out, and none can stand in for what the code decides.
 * `detail` of `internal` is dropped: the log has it.
 */
export function problemDocument(
  code: ErrorCode,
  members: {
    readonly requestId: string;
    readonly detail?: string;
    readonly instance?: string;
    readonly errors?: readonly Problem[];
    readonly [member: string]: unknown;
  },
): ProblemDocument {
  const { requestId, detail, instance, errors, type, title, status, code: _, ...more } = members;
  return {
    type: `https://millrace.dev/problems/${code}`,
    title: PROBLEMS[code].title,
    status: PROBLEMS[code].status,
    ...(detail === undefined || code === "internal" ? {} : { detail }),
    ...(instance === undefined ? {} : { instance }),
    code,
    requestId,
    ...(errors === undefined ? {} : { errors }),
    ...more,
  };
}

/** A problem in a sentence: what happened, and the first place of it. A place of a flow has its code, and its line if it was a text. */
export function problemMessage({ detail, title, errors }: ProblemText): string {
  const said = detail ?? title;
  const first = errors?.[0];
  if (!first) return said;
  if (!/^FLOW\d/.test(first.code)) return `${said}: ${first.pointer} ${first.message}`;
  const line = first.line === undefined ? "" : ` (line ${first.line})`;
  return `${said}: ${first.code} ${first.message}${line}`;
}

/** Whether a string is a code of this version. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(PROBLEMS, value);
}
