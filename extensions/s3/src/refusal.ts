/** What a storage answers in place of a success, as an error of a flow. Neither keys nor signatures are ever in it. */
import { NodeError, type ResponseLike } from "@millrace/contracts";
import { textIn } from "./xml.ts";

/** The error of a flow for an error code of S3. */
interface Known {
  readonly code: string;
  readonly says: string;
}

/** @see Amazon S3 API Reference, "Error responses" */
const KNOWN: ReadonlyMap<string, Known> = new Map(
  Object.entries({
    NoSuchKey: { code: "s3_no_such_key", says: "there is no object of this key" },
    NotFound: { code: "s3_no_such_key", says: "there is no object of this key" },
    NoSuchBucket: { code: "s3_no_such_bucket", says: "there is no such bucket" },
    AccessDenied: { code: "s3_access_denied", says: "the key may not do this" },
    InvalidAccessKeyId: {
      code: "s3_key_refused",
      says: "the storage does not know the accessKeyId of the configuration",
    },
    SignatureDoesNotMatch: {
      code: "s3_key_refused",
      says: "the signature was refused: is S3_SECRET_ACCESS_KEY that of accessKeyId?",
    },
    RequestTimeTooSkewed: { code: "s3_clock_wrong", says: "the clock of this machine is wrong" },
    AuthorizationHeaderMalformed: { code: "s3_region_wrong", says: "the region is another one" },
    PermanentRedirect: { code: "s3_region_wrong", says: "the bucket is at another endpoint" },
    TemporaryRedirect: { code: "s3_region_wrong", says: "the bucket is at another endpoint" },
    PreconditionFailed: { code: "s3_changed", says: "the object is not what it was" },
    InvalidRange: { code: "s3_range", says: "the object ends before the range" },
    SlowDown: { code: "s3_slow_down", says: "the storage asks for fewer requests" },
    ServiceUnavailable: { code: "s3_slow_down", says: "the storage asks for fewer requests" },
    RequestTimeout: { code: "s3_unavailable", says: "the request took too long to arrive" },
    InternalError: { code: "s3_unavailable", says: "the storage had an error of its own" },
  }),
);

/** Codes for answers without a body, as those to HEAD are. */
const BY_STATUS: ReadonlyMap<number, string> = new Map([
  [301, "PermanentRedirect"],
  [307, "TemporaryRedirect"],
  [403, "AccessDenied"],
  [404, "NoSuchKey"],
  [412, "PreconditionFailed"],
  [429, "SlowDown"],
  [500, "InternalError"],
  [503, "SlowDown"],
]);

const REASONS: ReadonlyMap<string, "auth" | "denied" | "rate_limit" | "server" | "input"> = new Map(
  [
    ["s3_access_denied", "denied"],
    ["s3_key_refused", "auth"],
    ["s3_slow_down", "rate_limit"],
    ["s3_unavailable", "server"],
  ],
);

const MAX_CODE = 64;

/** Reads the answer, and makes an error of it. A write that may have arrived is repeated all the same: its effect is one. */
export async function refusal(answer: ResponseLike, method: string): Promise<NodeError> {
  const { status } = answer;
  const body = method === "HEAD" ? "" : await answer.text().catch(() => "");
  return refusalOf(body, status, answer.headers.get("retry-after"));
}

/** The error of a body, which may stand in an answer of status 200, too. */
export function refusalOf(
  body: string,
  status: number,
  retryAfter: string | null = null,
): NodeError {
  const named = textIn(body, "Code")
    ?.replace(/[^A-Za-z0-9.]/g, "")
    .slice(0, MAX_CODE);
  const found = KNOWN.get(named ?? "") ?? KNOWN.get(BY_STATUS.get(status) ?? "");
  const { code = "s3_refused", says = "the storage refused" } = found ?? {};
  const isRetryable = code === "s3_slow_down" || code === "s3_unavailable" || status >= 500;
  const retryAfterMs = isRetryable ? millisecondsOf(retryAfter) : undefined;
  const reason = REASONS.get(code) ?? (status >= 500 ? "server" : "input");
  return new NodeError(code, `${says} (${named ?? "no code"}, status ${status})`, {
    retryable: isRetryable,
    reason,
    status,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** Seconds; a date is left to the policy of the flow. */
function millisecondsOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null || !/^\d{1,6}$/.test(retryAfter.trim())) return undefined;
  return Number(retryAfter) * 1_000;
}
