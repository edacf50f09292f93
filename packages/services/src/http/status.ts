/** Whether a status is what the flow expects, and what a retry has to know when it is not. */
import { NodeError, type ResponseLike } from "@millrace/contracts";

/** Returns when the status fits `ok`; else ends the answer and throws `http_status`. */
export async function checkStatus(
  response: ResponseLike,
  options: { readonly ok: readonly (string | number)[]; readonly nowMs: number },
): Promise<void> {
  const { status } = response;
  if (options.ok.some((pattern) => fits(status, String(pattern)))) return;
  await response.body?.[Symbol.asyncIterator]().return?.();
  const { reason, retryable } = familyOf(status);
  const retryAfterMs = retryAfterOf(response.headers.get("retry-after"), options.nowMs);
  throw new NodeError("http_status", `${status} from ${hostOf(response.url)}`, {
    reason,
    retryable,
    status,
    sent: true,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

function fits(status: number, pattern: string): boolean {
  return pattern.endsWith("xx")
    ? Math.floor(status / 100) === Number(pattern[0])
    : status === Number(pattern);
}

/** The family of a status that is no success, and whether the same request may succeed later. */
export function familyOf(status: number): { reason: string; retryable: boolean } {
  if (status === 429) return { reason: "rate_limit", retryable: true };
  if (status >= 500 || status === 408 || status === 425) {
    return { reason: "server", retryable: true };
  }
  return { reason: "client", retryable: false };
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3), as milliseconds from now. */
export function retryAfterOf(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : "the server";
}
