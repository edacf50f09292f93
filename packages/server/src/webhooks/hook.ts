/**
 * `POST /hooks/:token`: starts the run of one template; the token is the permission. `GET` answers challenges.
 *   H1  Unknown, disabled and switched off are one answer, after the same steps.
 * @see the server page, "Webhooks"
 */
import { MAX_WEBHOOK_BYTES } from "../config/limits.ts";
import { refuseWhileDraining } from "../dispatch/index.ts";
import { notFound, ProblemError } from "../errors.ts";
import { TokenBuckets } from "../gate/token-buckets.ts";
import { type Exchange, readRawBody } from "../http/index.ts";
import type { AppServices, ServerHost } from "../ports.ts";
import { answerCall, HOOK_PATTERN, notAllowed } from "./answer-call.ts";
import { hashToken, readWebhook } from "./stored-webhook.ts";

/** Answers a call; `token` is that of its path. */
export type Hook = (exchange: Exchange, token: string) => Promise<Response>;

/** Calls of one webhook at once, and in each minute. */
const CALLS_PER_MINUTE = 60;
/** Seconds until a call is allowed again. */
const RETRY_AFTER_S = Math.ceil(60 / CALLS_PER_MINUTE);

export function createHook(host: ServerHost, app: AppServices): Hook {
  const buckets = new TokenBuckets(CALLS_PER_MINUTE, () => host.now());

  return async (exchange, token) => {
    exchange.pattern = HOOK_PATTERN;
    const row = await host.store.webhooks.byTokenHash(hashToken(token));
    const webhook = row === null ? null : readWebhook(row);
    if (!app.webhooks || webhook === null || !webhook.enabled) {
      throw exchange.method === "POST" ? notFound("webhook") : notAllowed();
    }
    refuseWhileDraining(app);
    if (!buckets.take(webhook.id)) {
      throw new ProblemError("too_many_requests", {
        headers: { "Retry-After": `${RETRY_AFTER_S}` },
      });
    }
    const body = await readRawBody(exchange, MAX_WEBHOOK_BYTES);
    const answer = await answerCall(host, webhook, {
      requestId: exchange.requestId,
      method: exchange.method,
      query: exchange.passage.query,
      header: (name) => exchange.header(name),
      body,
      traceparent: exchange.trace?.traceparent,
      signal: exchange.signal,
    });
    return exchange.reply(answer);
  };
}
