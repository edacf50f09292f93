/**
 * The wait for a redirect.
 *   W1  Answers go out one at a time, in the order in which the request lines were complete.
 *   W2  What is decided stays decided: neither a lost page nor a late timeout changes the result.
 *   W3  However it ends, the port is free when the promise settles.
 */
import { OAuthError } from "../../errors.ts";
import { checkSpelling } from "../../options.ts";
import { sendAnswer } from "./arrivals.ts";
import { type LoopbackListener, takeListener } from "./listener.ts";
import { type LoopbackPage, type LoopbackPageName, type LoopbackPages, readPages } from "./page.ts";
import { checkRedirectPath, type Expected, judge } from "./redirect.ts";

/** Options of `acceptOAuthCode`. */
export interface AcceptOptions {
  /** The `state` of the authorize URL. */
  readonly state: string;
  /** Milliseconds; Infinity waits without end. Then: code `oauth_http`, reason `redirect_timeout`. */
  readonly timeoutMs: number;
  /** Ends the wait; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Only this path counts, such as `/callback`; absent: any path. Others are answered with 404. */
  readonly path?: string | undefined;
  /** An `error` counts only with the right state; default false, as the specification has it. */
  readonly requireStateOnError?: boolean | undefined;
  /** The `iss` a code must come with (RFC 9207); absent: not looked at. */
  readonly expectedIssuer?: string | undefined;
  /** Texts to show in place of ours. */
  readonly pages?: Partial<Record<LoopbackPageName, LoopbackPage>> | undefined;
}

const MAX_TIMER_MS = 2 ** 31 - 1; // above it setTimeout fires at once
const DECIDED = Symbol("decided");

/**
 * Waits for the redirect of a consent and resolves with its code. Rejects with code `oauth_token`, status 400, when the
 * provider sent `error` (reason `denied`) or the wrong state (`state_mismatch`) or issuer (`issuer_mismatch`); with
 * `oauth_http` on timeout, on a closed listener, and on a second wait of one listener. Requests that are no redirect are
 * answered with 404, and the wait goes on. Bad options are a `TypeError` or `RangeError`, and leave the listener as it was.
 * @see specification, "Accept OAuth code"
 */
export async function acceptOAuthCode(
  listener: LoopbackListener,
  options: AcceptOptions,
): Promise<string> {
  const { pages, ...expected } = checkAcceptOptions(options);
  const { arrivals, stopListening } = takeListener(listener);
  const end = (reason: unknown): void => {
    stopListening();
    arrivals.end(reason);
  };
  const disarm = arm(options, end);
  try {
    for (;;) {
      const arrival = await arrivals.next();
      const { page, head, result } = judge(arrival, expected);
      if (result !== undefined) {
        disarm();
        end(DECIDED);
      }
      const answer = pages[page];
      await sendAnswer(arrival.socket, head ? answer.head : answer.head + answer.body);
      if (result === undefined) continue;
      if ("error" in result) throw result.error;
      return result.code;
    }
  } finally {
    disarm();
  }
}

/** The validated options. Throws `TypeError` or `RangeError` for invalid ones. */
export function checkAcceptOptions(
  options: AcceptOptions,
): Expected & { readonly pages: LoopbackPages } {
  checkSpelling(options);
  const { state, timeoutMs, path, requireStateOnError, expectedIssuer } = options;
  if (typeof state !== "string") throw new TypeError("state: must be a string");
  if (typeof timeoutMs !== "number" || !(timeoutMs >= 0)) {
    throw new RangeError("timeoutMs: must be a number of milliseconds, 0 or more");
  }
  return {
    state,
    requireStateOnError,
    expectedIssuer,
    path: path === undefined ? undefined : checkRedirectPath(path).replace(/\?.*/, ""),
    pages: readPages(options.pages),
  };
}

/** Ends the wait on abort and after the timeout; the returned function cancels both. */
function arm({ timeoutMs, signal }: AcceptOptions, end: (reason: unknown) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const wait = (restMs: number): void => {
    timer = setTimeout(
      () => {
        if (restMs > MAX_TIMER_MS) return wait(restMs - MAX_TIMER_MS);
        const message = "timed out waiting for the OAuth redirect";
        end(new OAuthError("Http", message, { reason: "redirect_timeout" }));
      },
      Math.min(restMs, MAX_TIMER_MS),
    );
  };
  const onAbort = (): void => end(signal?.reason);
  if (timeoutMs !== Number.POSITIVE_INFINITY) wait(timeoutMs);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  };
}
