/**
 * The one place where this package speaks HTTP.
 *   H1  One call is one POST: nothing is repeated, no redirect is followed.
 *   H2  One timer covers connecting, headers and body.
 *   H3  No message holds more of the URL than its host.
 */
import { withDeadline } from "./deadline.ts";
import { OAuthError } from "./errors.ts";

/** A token request that takes longer has failed. @see specification, "Limits" */
const MAX_TIMEOUT_MS = 30_000;
/** Limit of an answer; no token is that long. */
const MAX_BODY_BYTES = 1024 * 1024;

/** How to send; all optional, as in `TokenEndpoint`. */
export interface SendOptions {
  readonly fetch?: typeof fetch | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface FormRequest {
  readonly url: string;
  /** The body, form-encoded. */
  readonly form: string;
  /** `Authorization`, for a client that authenticates by header. */
  readonly authorization?: string | undefined;
}

/** An answer, its body read whole or cut at 1 MiB. */
export interface FormAnswer {
  readonly status: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly cut: boolean;
}

/** Throws `RangeError` for a time limit that is none. */
export function checkTimeout(timeoutMs: number | undefined): void {
  if (timeoutMs !== undefined && !(timeoutMs >= 0)) {
    throw new RangeError(`timeoutMs must be a number of milliseconds from 0, not ${timeoutMs}`);
  }
}

/**
 * POSTs a form and reads the answer, whatever its status. Throws `OAuthError` kind `Http`, reason `network` or `timeout`;
 * an abort rejects with the signal's reason.
 */
export async function sendForm(request: FormRequest, options: SendOptions): Promise<FormAnswer> {
  const url = checkUrl(request.url);
  const timeoutMs = Math.min(options.timeoutMs ?? MAX_TIMEOUT_MS, MAX_TIMEOUT_MS);
  return withDeadline(
    {
      signal: options.signal,
      timeout: {
        ms: timeoutMs,
        error: () =>
          new OAuthError("Http", `token request timed out after ${timeoutMs / 1000} s`, {
            reason: "timeout",
          }),
      },
    },
    async (signal) => {
      try {
        return await post(url, request, options.fetch ?? fetch, signal);
      } catch (cause) {
        throw new OAuthError("Http", `token request to ${url.host} failed: ${codeOf(cause)}`, {
          reason: "network",
          cause,
        });
      }
    },
  );
}

async function post(
  url: URL,
  { form, authorization }: FormRequest,
  send: typeof fetch,
  signal: AbortSignal,
): Promise<FormAnswer> {
  const response = await send(url.href, {
    method: "POST",
    // A string: with URLSearchParams as the body, fetch appends a charset to the content type.
    body: form,
    headers: {
      "Content-Type": "application/x-www-form-urlencoded",
      Accept: "application/json",
      ...(authorization && { Authorization: authorization }),
    },
    // A redirect would take the secret somewhere else.
    redirect: "manual",
    signal,
  });
  return { status: response.status, ...(await readBody(response)) };
}

async function readBody(
  response: Response,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; cut: boolean }> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  while (reader && length <= MAX_BODY_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.byteLength;
  }
  const cut = length > MAX_BODY_BYTES;
  if (cut) reader?.cancel().catch(() => {});
  const whole = await new Blob(chunks).arrayBuffer();
  return { bytes: new Uint8Array(whole, 0, Math.min(length, MAX_BODY_BYTES)), cut };
}

function checkUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) throw new OAuthError("Http", "token request failed: the URL cannot be read");
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw refused(url, "the URL must begin with https: or http:");
  }
  if (url.username !== "" || url.password !== "") {
    throw refused(url, "the URL must not hold credentials");
  }
  return url;
}

function refused(url: URL, why: string): OAuthError {
  const where = url.host === "" ? "" : ` to ${url.host}`;
  return new OAuthError("Http", `token request${where} failed: ${why}`);
}

/** The machine-readable word for a failed fetch. Free text is left out: it may hold the URL. */
function codeOf(error: unknown): string {
  try {
    for (let at = error, depth = 0; at instanceof Object && depth < 4; depth++) {
      const { code, cause } = at as { code?: unknown; cause?: unknown };
      if (typeof code === "string" && /^\w{1,64}$/.test(code)) return code;
      at = cause as object;
    }
  } catch {
    // Whatever was thrown cannot even be looked at.
  }
  return "no connection";
}
