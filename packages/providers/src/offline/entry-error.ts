/** A failed call as real packages report it, from a reason or a status: nothing tells it from a real one. */
import { NodeError } from "@millrace/contracts";

/** Why a call fails. A status wins over a reason. */
export interface ErrorEntry {
  /** One of `rate_limit quota server timeout network not_found context_length content_filter auth bad_request egress`. */
  readonly reason?: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
}

/** Answers of vendors by reason: a status, and the code in the body where the status alone is ambiguous. */
const ANSWERS: { readonly [reason: string]: { readonly status: number; readonly code?: string } } =
  {
    rate_limit: { status: 429 },
    quota: { status: 429, code: "insufficient_quota" },
    server: { status: 500 },
    timeout: { status: 408 },
    not_found: { status: 404 },
    context_length: { status: 400, code: "context_length_exceeded" },
    content_filter: { status: 400, code: "content_policy_violation" },
    auth: { status: 401 },
    bad_request: { status: 400 },
  };

/** Reasons that the way to the maker has, not the maker. */
const WAY: { readonly [reason: string]: () => NodeError } = {
  network: () =>
    new NodeError("network", "the connection failed (ECONNRESET)", {
      reason: "network",
      retryable: true,
      sent: false,
    }),
  egress: () =>
    new NodeError("egress_denied", "private-address: the egress policy does not permit it", {
      reason: "denied",
      sent: false,
    }),
};

/** An error with `statusCode`, `responseHeaders` and `data`, as the packages throw it, or a `NodeError` of the network. */
export function errorOf({ reason = "server", status, retryAfterMs }: ErrorEntry): Error {
  const way = status === undefined && Object.hasOwn(WAY, reason) ? WAY[reason] : undefined;
  if (way !== undefined) return way();
  const known = Object.hasOwn(ANSWERS, reason) ? ANSWERS[reason] : undefined;
  const answer = status === undefined ? (known ?? { status: 500 }) : { ...known, status };
  return Object.assign(new Error(`the model answered with ${answer.status}`), {
    name: "AI_APICallError",
    statusCode: answer.status,
    responseHeaders: retryAfterMs === undefined ? {} : { "retry-after-ms": String(retryAfterMs) },
    ...("code" in answer && { data: { error: { code: answer.code } } }),
  });
}

/** The same backwards, for a recording: what an error that a package threw means, and nothing that it holds. */
export function entryOf(error: unknown): ErrorEntry {
  const { statusCode, responseHeaders = {}, data, code } = (error ?? {}) as Thrown;
  if (typeof statusCode !== "number" || (statusCode >= 200 && statusCode < 300)) {
    return { reason: code === "egress_denied" ? "egress" : "network" };
  }
  const inBody = data?.error?.code ?? data?.error?.type;
  const reason = Object.entries(ANSWERS).find(
    (entry) => entry[1].code !== undefined && entry[1].code === inBody,
  )?.[0];
  const retryAfterMs = Number(
    responseHeaders["retry-after-ms"] ?? Number(responseHeaders["retry-after"]) * 1_000,
  );
  return {
    ...(reason !== undefined && { reason }),
    status: statusCode,
    ...(Number.isFinite(retryAfterMs) && { retryAfterMs }),
  };
}

interface Thrown {
  readonly statusCode?: unknown;
  readonly responseHeaders?: { readonly [name: string]: string };
  readonly data?: { readonly error?: { readonly code?: unknown; readonly type?: unknown } };
  readonly code?: unknown;
}
