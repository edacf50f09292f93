/**
 * Why a call to a model failed, read from whatever a provider threw. Errors of providers hold the whole prompt, answer and
 * headers; here they are read by their shape and dropped. Nothing of their text goes on.
 */
import { NodeError } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";

/** Reasons of failed calls; readers must expect others. */
export type AiReason =
  | "rate_limit"
  | "quota"
  | "server"
  | "timeout"
  | "network"
  | "stream_cut"
  | "not_found"
  | "context_length"
  | "content_filter"
  | "auth"
  | "bad_request"
  | "output_schema"
  | "expect"
  | "egress"
  | "max_steps"
  | "max_output"
  | "budget"
  | "deadline"
  | "aborted";

/** A failed call, reduced to the data that may be logged. */
export interface AiFailure {
  readonly reason: AiReason;
  /** Code of the node's error where it is not `ai_<reason>`. */
  readonly code?: string;
  /** Description of the failure, without any text of a provider or a model. */
  readonly text: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** The same call may not succeed later, whatever the reason says: a certificate that is not trusted. */
  readonly isFinal?: true;
}

/** Trouble of the model's side that may pass: the same target may be asked again, and too much of it opens its circuit. */
export const PASSING: ReadonlySet<string> = new Set([
  "rate_limit",
  "server",
  "timeout",
  "network",
  "stream_cut",
]);

/** Reasons for which no other target may stand in. */
const NEVER_OVER: ReadonlySet<string> = new Set([
  "egress",
  "max_steps",
  "max_output",
  "budget",
  "deadline",
  "aborted",
]);

export function mayRetry({ reason, isFinal }: AiFailure): boolean {
  return isFinal !== true && PASSING.has(reason);
}

export function mayFailOver({ reason }: AiFailure): boolean {
  return !NEVER_OVER.has(reason);
}

/** Codes of `NodeError` that a provider, the credentials or the egress client throw, and what they mean here. */
const BY_CODE: { readonly [code: string]: AiReason } = {
  egress_denied: "egress",
  network: "network",
  dns: "network",
  tls: "network",
  timeout: "timeout",
  response_too_large: "server",
  credentials_missing: "auth",
  credentials_expired: "auth",
  no_refresh_token: "auth",
  unavailable: "server",
  provider_unavailable: "not_found",
  model_unavailable: "not_found",
  capability_denied: "bad_request",
  host_unsupported: "bad_request",
};

const MAX_CAUSES = 8; // of one error; a longer chain is a circle

/** Reads an error of a provider. Never throws, whatever was thrown. */
export function failureOfError(thrown: unknown): AiFailure {
  try {
    return readError(thrown);
  } catch {
    return { reason: "server", text: "the provider failed" };
  }
}

function readError(thrown: unknown): AiFailure {
  let isCertificate = false;
  let isNetwork = false;
  let error: unknown = thrown;
  for (
    let depth = 0;
    depth < MAX_CAUSES && typeof error === "object" && error !== null;
    depth += 1
  ) {
    const told = readOne(error as Shape);
    if (told !== null) return told;
    const { code, name } = error as Shape;
    if (typeof code === "string") {
      isCertificate ||= /CERT|SIGNATURE|ALTNAME|SELF_SIGNED/.test(code);
      isNetwork ||= /^(?:E[A-Z]{3,}|UND_ERR_[A-Z_]+)$/.test(code);
    }
    isNetwork ||=
      name === "TypeError" && /fetch|network/i.test(String((error as Shape)["message"]));
    error = (error as Shape).cause ?? (error as Shape)["lastError"];
  }
  if (isCertificate)
    return { reason: "network", text: "there is no trusted connection", isFinal: true };
  if (isNetwork) return { reason: "network", text: "the connection failed" };
  return { reason: "server", text: "the provider failed" };
}

interface Shape {
  readonly [name: string]: unknown;
  readonly code?: unknown;
  readonly name?: unknown;
  readonly statusCode?: unknown;
  readonly responseHeaders?: unknown;
  readonly responseBody?: unknown;
  readonly data?: unknown;
  readonly cause?: unknown;
}

function readOne(error: Shape): AiFailure | null {
  if (NodeError.isInstance(error)) return ofNodeError(error);
  const name = typeof error.name === "string" ? error.name : "";
  if (Object.hasOwn(BY_NAME, name)) return BY_NAME[name] as AiFailure;
  const { statusCode, status, reason } = error;
  if (typeof reason === "string" && Object.hasOwn(OWN_REASONS, reason)) {
    return { reason: reason as AiReason, text: OWN_REASONS[reason] as string, ...headers(error) };
  }
  const code = typeof statusCode === "number" ? statusCode : status;
  if (typeof code !== "number" || !isStatus(code)) return null;
  // A good status is that of the head; what went wrong after it is the cause.
  const isGood =
    code >= 200 && code < 300 && typeof error.cause === "object" && error.cause !== null;
  return isGood ? null : ofStatus(code, error);
}

/** A valid status of HTTP; undefined for any other value. */
function isStatus(code: number): boolean {
  return Number.isInteger(code) && code >= 100 && code < 600;
}

/** Errors of the AI SDK without a status, by name. */
const BY_NAME: { readonly [name: string]: AiFailure } = {
  AI_NoSuchModelError: { reason: "not_found", text: "the provider does not know the model" },
  AI_LoadAPIKeyError: {
    reason: "auth",
    code: "credentials_missing",
    text: "the provider has no key",
  },
  AI_LoadSettingError: { reason: "auth", text: "a setting of the provider is missing" },
  AI_UnsupportedFunctionalityError: { reason: "bad_request", text: "the model cannot do this" },
  AI_InvalidArgumentError: { reason: "bad_request", text: "the provider refused an argument" },
  AI_InvalidPromptError: { reason: "bad_request", text: "the provider refused the messages" },
  AI_TooManyEmbeddingValuesForCallError: {
    reason: "bad_request",
    text: "too many texts in one call",
  },
  AI_EmptyResponseBodyError: { reason: "server", text: "the provider answered nothing" },
};

/** Reasons that a provider of ours may name itself, such as the scripted one. */
const OWN_REASONS: { readonly [reason: string]: string } = {
  rate_limit: "too many requests",
  quota: "the quota is used up",
  server: "the provider failed",
  timeout: "the provider did not answer in time",
  network: "the connection failed",
  stream_cut: "the answer broke off",
  not_found: "the provider does not know the model",
  context_length: "the messages are longer than the model takes",
  content_filter: "the provider refused the content",
  auth: "the provider refused the credential",
  bad_request: "the provider refused the request",
};

function ofNodeError(error: NodeError): AiFailure {
  const { code, status, retryAfterMs } = error;
  const named = code.startsWith("ai_") ? code.slice(3) : code;
  const known = Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : undefined;
  const reason = known ?? (Object.hasOwn(OWN_REASONS, named) ? named : "bad_request");
  const isOwn = known === undefined && reason === "bad_request" && named !== reason;
  return {
    reason: reason as AiReason,
    text: error.message,
    ...((Object.hasOwn(REASON_OF_CODE, code) || isOwn) && { code }),
    ...(status !== undefined && isStatus(status) && { status }),
    ...wait(retryAfterMs ?? Number.NaN),
    ...((code === "tls" || code === "unavailable") && { isFinal: true as const }),
  };
}

function ofStatus(status: number, error: Shape): AiFailure {
  const reason = reasonOfStatus(status, error);
  const text = `${OWN_REASONS[reason] ?? "the call failed"} (${status})`;
  return { reason, text, status, ...headers(error) };
}

function reasonOfStatus(status: number, error: Shape): AiReason {
  // Of a limit the code alone counts: makers speak of plans and billing in the text of every one.
  if (status === 402 || (status === 429 && QUOTA.test(codesOf(error)))) return "quota";
  if (status === 429) return "rate_limit";
  if (status === 408) return "timeout";
  if (status === 409 || status >= 500 || (status >= 200 && status < 300)) return "server";
  if (status === 404) return "not_found";
  if (status === 401 || status === 403) return "auth";
  const said = `${bodyOf(error)} ${codesOf(error)}`;
  if (status === 413 || CONTEXT.test(said)) return "context_length";
  return POLICY.test(said) ? "content_filter" : "bad_request";
}

const QUOTA = /insufficient_quota|quota_exceeded|billing|credit_balance/i;
const CONTEXT = /context_length|context_window|too_long|max_tokens_exceeded|prompt is too long/i;
const POLICY = /content_filter|content_policy|safety|responsible_ai|invalid_prompt/i;

const BODY_LOOK_UNITS = 4_096; // where the code of an error stands

/** The beginning of what was answered: some makers name what is wrong in a sentence only. */
function bodyOf({ responseBody }: Shape): string {
  return typeof responseBody === "string" ? responseBody.slice(0, BODY_LOOK_UNITS) : "";
}

/** The words in which a provider names an error: `error.code`, `error.type`, `error.status`. */
function codesOf(error: Shape): string {
  const data = error.data ?? parsed(bodyOf(error));
  const inner = (data as { error?: unknown } | null | undefined)?.error ?? data;
  if (typeof inner !== "object" || inner === null) return "";
  const { code, type, status } = inner as { readonly [name: string]: unknown };
  return [code, type, status].filter((word) => typeof word === "string").join(" ");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The delay that the server asks for. @see RFC 9110, section 10.2.3 */
function headers(error: Shape): { retryAfterMs?: number } {
  const own = error["retryAfterMs"];
  if (typeof own === "number") return wait(own);
  const { responseHeaders } = error;
  if (typeof responseHeaders !== "object" || responseHeaders === null) return {};
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(responseHeaders)) {
    if (typeof value === "string") found.set(name.toLowerCase(), value);
  }
  const ms = Number(found.get("retry-after-ms") ?? Number.NaN);
  if (ms >= 0) return wait(ms);
  const text = found.get("retry-after");
  if (text === undefined) return {};
  const seconds = Number(text);
  if (seconds >= 0) return wait(seconds * 1_000);
  const now = Date.parse(found.get("date") ?? "");
  const at = Date.parse(text);
  return wait(Math.max(0, at - now));
}

/** Whole milliseconds that an event can hold. */
function wait(ms: number): { retryAfterMs?: number } {
  return ms >= 0 ? { retryAfterMs: Math.min(Math.ceil(ms), Number.MAX_SAFE_INTEGER) } : {};
}

/** Carries a failure out of the loop. */
export class AiError extends Error {
  readonly failure: AiFailure;

  constructor(failure: AiFailure) {
    super(failure.text);
    this.failure = failure;
  }
}

/** The error of a node whose last call failed so. `model` says which one. */
export function nodeErrorOf(failure: AiFailure, model: string): NodeError {
  const { reason, status, retryAfterMs, text } = failure;
  const code = failure.code ?? `ai_${reason}`;
  return new NodeError(code, `${model}: ${text}`, {
    reason: REASON_OF_CODE[code] ?? "ai",
    retryable: mayRetry(failure) || reason === "quota",
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** Codes that the node's error keeps, because exit codes depend on them, each with its reason. */
const REASON_OF_CODE: { readonly [code: string]: string } = {
  egress_denied: "denied",
  credentials_missing: "auth",
  credentials_expired: "auth",
  no_refresh_token: "auth",
  unavailable: "unavailable",
  provider_unavailable: "unavailable",
  model_unavailable: "unavailable",
};

/** Kinds whose frames are never passed over: one that does not fit its schema is broken. */
const FRAMES: ReadonlySet<string> = new Set([
  "message_start",
  "message_delta",
  "message_stop",
  "content_block_stop",
  "error",
  "ping",
  "chat.completion.chunk",
]);

/** Frames that hold something of a kind of its own, and where; the kinds that carry an answer. */
const HOLDERS: { readonly [frame: string]: string } = {
  content_block_start: "content_block",
  content_block_delta: "delta",
};
const CONTENT: ReadonlySet<string> = new Set([
  "text",
  "thinking",
  "redacted_thinking",
  "tool_use",
  "text_delta",
  "thinking_delta",
  "signature_delta",
  "input_json_delta",
]);

/** Members that only frames with an answer, or with an error, have. */
const MEANT = ["choices", "candidates", "error"];

/** Whether an error of a stream says no more than that a frame is of an unknown kind. */
export function isUnknownFrame(error: unknown): boolean {
  if (!isObject(error) || error["name"] !== "AI_TypeValidationError") return false;
  const frame = error["value"];
  if (!isObject(frame) || MEANT.some((name) => Object.hasOwn(frame, name))) return false;
  const kind = frame["type"] ?? frame["object"];
  if (typeof kind !== "string" || FRAMES.has(kind)) return false;
  if (!Object.hasOwn(HOLDERS, kind)) return true;
  const held = frame[HOLDERS[kind] as string];
  return isObject(held) && typeof held["type"] === "string" && !CONTENT.has(held["type"]);
}
