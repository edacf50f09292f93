/** An answer that says no, as the failure of its node. */
import {
  type Json,
  NodeError,
  type ResponseLike,
  type ServiceIntegration,
  type ServiceOperation,
} from "@millrace/contracts";
import { mustReconnect, scopesMissing, valueAt } from "@millrace/engine/pack";
import { familyOf, retryAfterOf } from "../http/status.ts";

/** Bytes of a failure's body that are read: enough to find what is shown of it behind any secret. */
const MAX_READ_BYTES = 65_536;

/** Description of the call, for the message of a failure. */
export interface CallPlace {
  readonly slug: string;
  readonly host: string;
  readonly operation: ServiceOperation;
  readonly integration: Pick<ServiceIntegration, "rateLimit" | "failure">;
  readonly scopes: readonly string[];
  readonly nowMs: number;
}

/** A failed answer; `isWhole`: `body` is all of it. */
export interface FailedAnswer {
  readonly error: Error;
  readonly body: string;
  readonly isWhole: boolean;
}

/**
 * The failure of a non-2xx answer, and the beginning of its body, which belongs into no event but a log at debug.
 * `credentials_missing` when a scope is missing, else `http_status`.
 */
export async function failureOfAnswer(
  response: ResponseLike,
  { slug, host, operation, integration, scopes, nowMs }: CallPlace,
): Promise<FailedAnswer> {
  const { status, headers } = response;
  const { body, isWhole } = await beginningOf(response);
  const challenge = headers.get("www-authenticate") ?? "";
  if (status === 403 && saysTooSmall(challenge, body)) {
    const told = /\bscope="([\x21\x23-\x5b\x5d-\x7e ]{1,200})"/i.exec(challenge)?.[1]?.trim();
    const missing = told === undefined || told === "" ? scopes : told.split(/ +/);
    return { error: scopesMissing(slug, missing), body, isWhole };
  }
  const { isLimit, resetMs } = limitOf(response, integration, nowMs);
  const retryAfterMs = retryAfterOf(headers.get("retry-after"), nowMs) ?? resetMs;
  const error = new NodeError("http_status", `${operation.id}: ${host} answered ${status}`, {
    reason: familyOf(isLimit ? 429 : status).reason,
    retryable: mayRetry(operation, isLimit ? "429" : String(status)),
    status,
    sent: true,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
  return { error, body, isWhole };
}

/** Whether the service was asked too often, and how long until it counts anew. */
function limitOf(
  { status, headers }: ResponseLike,
  { rateLimit = {} }: CallPlace["integration"],
  nowMs: number,
): { readonly isLimit: boolean; readonly resetMs?: number } {
  const header = (name: string | undefined): string =>
    (name === undefined ? null : headers.get(name))?.trim() ?? "";
  const isOther = rateLimit.statuses?.includes(status) === true;
  const isSpent = header(rateLimit.remaining) === "0" || headers.get("retry-after") !== null;
  const isLimit = status === 429 || (isOther && isSpent);
  const reset = header(rateLimit.reset);
  if (!isLimit || !/^\d{1,10}(?:\.\d+)?$/.test(reset)) return { isLimit };
  const ms = Math.ceil(Number(reset) * 1000);
  return { isLimit, resetMs: Math.max(0, rateLimit.resetIs === "epoch" ? ms - nowMs : ms) };
}

/**
 * The failure that an answer with a status of success tells of, where the service has a place for it. A code of letters is
 * named; any other text may hold more than a code, and is not.
 */
export function failureInAnswer(
  { body, status }: { readonly body: Json; readonly status: number },
  { slug, host, operation, integration }: Omit<CallPlace, "nowMs" | "scopes">,
): Error | undefined {
  const { failure } = integration;
  const said = failure === undefined ? undefined : valueAt(body, failure.at);
  if (said === undefined || said === null || said === false || said === "") return undefined;
  const code = typeof said === "string" && /^[a-z]+(?:_[a-z]+){0,9}$/.test(said) ? said : undefined;
  if (code !== undefined && failure?.reconnect?.includes(code)) {
    return mustReconnect("credentials_expired", `${host} refuses the credential (${code})`, slug);
  }
  const what = code === undefined ? "an error" : `the error ${code}`;
  const message = `${operation.id}: ${host} answered ${status} with ${what}`;
  return new NodeError("http_status", message, { reason: "client", status, sent: true });
}

/** @see RFC 6750, section 3.1; some services say it in the body alone */
function saysTooSmall(challenge: string, body: string): boolean {
  if (/\berror="?insufficient_scope\b/i.test(challenge)) return true;
  try {
    return (JSON.parse(body) as { error?: Json } | null)?.error === "insufficient_scope";
  } catch {
    return false;
  }
}

/** An answer that breaks off tells what came of it; its status is known. */
async function beginningOf(response: ResponseLike): Promise<{ body: string; isWhole: boolean }> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  let isWhole = false;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      text += decoder.decode(chunk, { stream: true });
      if (bytes >= MAX_READ_BYTES) break;
    }
    isWhole = bytes < MAX_READ_BYTES;
  } catch {
    // the failure is told all the same
  }
  return { body: text + decoder.decode(), isWhole };
}

const REPEATABLE: ReadonlySet<string> = new Set(["GET", "HEAD", "PUT", "DELETE"]);
const PASSING = ["network", "timeout", "429", "502", "503", "504"];
/** The server says itself that it has done nothing. */
const UNDONE = ["429"];

/** Whether `failure`, a status, `network` or `timeout`, may be tried again. */
export function mayRetry(operation: ServiceOperation, failure: string): boolean {
  const list = operation.retryOn ?? defaultsOf(operation);
  return list.includes(failure) || (/^5\d\d$/.test(failure) && list.includes("5xx"));
}

function defaultsOf({ method, idempotencyHeader }: ServiceOperation): readonly string[] {
  return REPEATABLE.has(method) || idempotencyHeader !== undefined ? PASSING : UNDONE;
}
