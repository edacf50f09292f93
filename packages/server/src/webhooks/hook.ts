/**
 * `POST /hooks/:token`: starts the run of one template; the token is the permission.
 *   H1  Unknown, disabled and switched off are one answer, after the same steps.
 *   H2  A call gives the run a value and nothing else: no graph, no options.
 *   H3  A signature starts one run; the run is committed together with the memory of it.
 * @see the server page, "Webhooks"
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Json, RunRef, StartRows, Webhook } from "@millrace/contracts";
import { MAX_WEBHOOK_BYTES } from "../config/limits.ts";
import { JSON_TYPE, oncePerKey, REPLAYED, refuseWhileDraining } from "../dispatch/index.ts";
import { invalidArg, notFound, ProblemError } from "../errors.ts";
import { specOfTemplate } from "../flows/stored-flows.ts";
import { TokenBuckets } from "../gate/token-buckets.ts";
import { type Exchange, parseJson, readRawBody } from "../http/index.ts";
import type { AppServices, ServerHost } from "../ports.ts";
import { callExecutor } from "../runs/index.ts";
import { hashToken, readSecret, readWebhook } from "./stored-webhook.ts";

/** Answers a call; `token` is that of its path. */
export type Hook = (exchange: Exchange, token: string) => Promise<Response>;

const PATTERN = "/hooks/:token";
/** Calls of one webhook at once, and in each minute. */
const CALLS_PER_MINUTE = 60;
/** Seconds until a call is allowed again. */
const RETRY_AFTER_S = Math.ceil(60 / CALLS_PER_MINUTE);
const SIGNATURE = "millrace-signature";
/** Headers that every run gets. */
const ALWAYS = ["content-type", "user-agent"];

/** Makes the route of webhooks. */
export function createHook(host: ServerHost, app: AppServices): Hook {
  const buckets = new TokenBuckets(CALLS_PER_MINUTE, () => host.now());

  return async (exchange, token) => {
    exchange.pattern = PATTERN;
    const row = await host.store.webhooks.byTokenHash(hashToken(token));
    const webhook = row === null ? null : readWebhook(row);
    if (!app.webhooks || webhook === null || !webhook.enabled) throw notFound("webhook");
    refuseWhileDraining(app);
    if (!buckets.take(webhook.id)) {
      throw new ProblemError("too_many_requests", {
        headers: { "Retry-After": `${RETRY_AFTER_S}` },
      });
    }
    const body = await readRawBody(exchange, MAX_WEBHOOK_BYTES);
    const signature =
      webhook.secret === true ? await signatureOf(exchange, webhook, body) : undefined;
    const type = exchange.header("content-type");
    const value = {
      method: exchange.method,
      query: readForm(exchange.passage.query),
      headers: headersOf(exchange, webhook),
      body: readPayload(type, body),
    };
    const { value: ref, replayed } = await oncePerKey(
      host,
      {
        tokenId: webhook.id,
        command: PATTERN,
        key: exchange.header("idempotency-key"),
        args: { query: exchange.passage.query, type: type ?? null, body: digestOf(body) },
        joins: true,
      },
      (rows) =>
        start(
          webhook,
          { value: value as unknown as Json, traceparent: exchange.trace?.traceparent },
          { ...rows, ...(signature && { signature }) },
        ),
    );
    return exchange.reply({
      status: 202,
      headers: { ...JSON_TYPE, ...(replayed ? REPLAYED : {}) },
      body: JSON.stringify({ runId: ref.runId }),
    });
  };

  async function signatureOf(
    exchange: Exchange,
    { id }: Webhook,
    body: Uint8Array,
  ): Promise<StartRows["signature"]> {
    const signature = checkSignature({
      header: exchange.header(SIGNATURE),
      body,
      webhookId: id,
      secret: await readSecret(host, id),
      now: host.now(),
    });
    if (signature === undefined) throw unsigned();
    return signature;
  }

  async function start(
    webhook: Webhook,
    { value, traceparent }: { readonly value: Json; readonly traceparent: string | undefined },
    rows: StartRows,
  ): Promise<RunRef> {
    const { id, template, input } = webhook;
    const spec = await specOfTemplate(
      host.store,
      { slug: template },
      { inputs: { [input]: value }, trigger: "webhook", source: { webhookId: id }, traceparent },
    );
    if (spec === undefined) {
      host.log.warn({ webhookId: id, template }, "webhook.no_template");
      throw notFound("webhook");
    }
    try {
      return await callExecutor(() => host.executor.start(spec, rows));
    } catch (error) {
      const { code } = error as { readonly code?: unknown };
      if (code === "signature_used") throw unsigned();
      if (code !== "flow_invalid") throw error;
      // The caller does not learn what is wrong with the flow; its author does.
      host.log.warn({ webhookId: id, template, err: error }, "webhook.flow_invalid");
      throw new ProblemError("flow_invalid");
    }
  }
}

/** What is handed on: nothing that carries credentials, whatever the webhook names. */
function headersOf(exchange: Exchange, webhook: Webhook): { readonly [name: string]: string } {
  const names = new Set([...ALWAYS, ...webhook.headers]);
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const value = exchange.header(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64url");
}

/** One answer for a missing, wrong, old or used signature. */
function unsigned(): ProblemError {
  return new ProblemError("unauthorized", {
    headers: { "WWW-Authenticate": "Millrace-Signature" },
  });
}

const TYPE = /^([a-z]+\/[a-z0-9.+-]+)\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i;

/** Reads a body by its media type; null for an empty one without type. Throws `unsupported_media_type` and what JSON throws. */
function readPayload(type: string | undefined, bytes: Uint8Array): Json {
  if (type === undefined && bytes.byteLength === 0) return null;
  switch (TYPE.exec(type ?? "")?.[1]?.toLowerCase()) {
    case "application/json":
      return parseJson(bytes) as Json;
    case "application/x-www-form-urlencoded":
      return readForm(decode(bytes));
    case "text/plain":
      return decode(bytes);
    default:
      throw new ProblemError("unsupported_media_type", {
        detail: "Send application/json, application/x-www-form-urlencoded or text/plain in UTF-8",
      });
  }
}

/** Pairs of a form or a query by name; a name that comes more than once has a list. */
function readForm(text: string): { readonly [name: string]: string | readonly string[] } {
  const fields = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  if (fields.has("__proto__")) {
    throw invalidArg("/__proto__", "the key __proto__ is not allowed", "key_refused");
  }
  return Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length > 1 ? values : (values[0] ?? "")]),
  );
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ProblemError("unsupported_media_type", { detail: "The body is not UTF-8" });
  }
}

/** How far the clocks of caller and server may be apart, and how long a call may be on its way. */
const WINDOW_S = 300;
/** A signature is valid from `WINDOW_S` before its time through `WINDOW_S` after it: it is remembered longer than that. */
const REMEMBERED_MS = 2 * WINDOW_S * 1_000 + 1;

const SIGNATURE_FORM = /^t=([0-9]{1,12}),v1=([0-9a-f]{64})$/;

/** One signed call. */
interface SignedCall {
  /** Value of the header; undefined: it is absent. */
  readonly header: string | undefined;
  readonly body: Uint8Array;
  readonly webhookId: string;
  readonly secret: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What must be remembered of a valid signature, so that it counts once; undefined: it is missing, old or wrong. */
function checkSignature(
  call: SignedCall,
): { readonly hash: string; readonly ttlMs: number } | undefined {
  const [, time = "", given = ""] = SIGNATURE_FORM.exec(call.header ?? "") ?? [];
  if (given === "") return undefined;
  const expected = createHmac("sha256", call.secret).update(`${time}.`).update(call.body).digest();
  const isRight = timingSafeEqual(expected, Buffer.from(given, "hex"));
  const isFresh = Math.abs(call.now / 1_000 - Number(time)) <= WINDOW_S;
  if (!isRight || !isFresh) return undefined;
  const hash = createHash("sha256").update(`${call.webhookId}\n${given}`).digest("hex");
  return { hash, ttlMs: REMEMBERED_MS };
}
