/**
 * What a webhook answers a call: a refusal, a challenge, the id of a run, or its outputs.
 *   C1  A call gives the run a value and nothing else: no graph, no options.
 *   C2  A call that its sender repeats starts one run, and every repetition is answered with that run. Of our own signatures
 *       each is taken once.
 *   C3  What a challenge echoes is short plain text that no browser takes for a page.
 *   C4  Of a flow that cannot run, or has failed, the caller learns that much and no more.
 * @see the server page, "Webhooks"
 */
import { createHash } from "node:crypto";
import type { Json, RunRef, StartRows, Webhook } from "@millrace/contracts";
import { JSON_TYPE, type KeyedCall, oncePerKey, REPLAYED } from "../dispatch/index.ts";
import { invalidArg, notFound, ProblemError } from "../errors.ts";
import { specOfTemplate } from "../flows/stored-flows.ts";
import { type HeaderRecord, parseJson } from "../http/index.ts";
import type { ServerHost } from "../ports.ts";
import { callExecutor, isEnded, waitForRun, wholeOutputs } from "../runs/index.ts";
import { type HookCall, readForm, readPayload, textAt } from "./payload.ts";
import {
  type Challenge,
  hasKey,
  isOneOf,
  SCHEMES,
  type Scheme,
  type Unsigned,
  type Verified,
  verifySignature,
  WINDOW_S,
  withoutKey,
} from "./schemes.ts";
import { readSecrets, verifyTokenOf } from "./stored-webhook.ts";

/** Pattern of the route, and the command of its keys. */
export const HOOK_PATTERN = "/hooks/:token";

/** The answer to a call, and the run that it is about. */
export interface HookAnswer {
  readonly status: number;
  readonly headers: HeaderRecord;
  readonly body: string;
  readonly runId?: string;
}

/** How long an answer waits for outputs, where neither the webhook nor its scheme says. GitHub waits for ten seconds, others longer. */
const RESPOND_WITHIN_MS = 8_000;
/** Senders may repeat a delivery for this long: GitHub by hand, Stripe by itself. */
const DELIVERY_MS = 3 * 86_400_000;
/** A signature is valid from `WINDOW_S` before its time through `WINDOW_S` after it: it is remembered longer than that. */
const REMEMBERED_MS = 2 * WINDOW_S * 1_000 + 1;
/** Valid challenges; the longest are the sentences of Microsoft. */
const ECHO = /^[\x20-\x3b\x3d\x3f-\x7e]{1,1024}$/;
/** Headers that every run gets. */
const ALWAYS = ["content-type", "user-agent"];

/** Answers a call of a webhook that is on. Throws `ProblemError` for what is refused. */
export async function answerCall(
  host: ServerHost,
  webhook: Webhook,
  call: HookCall,
): Promise<HookAnswer> {
  const scheme = SCHEMES[webhook.scheme ?? "millrace"];
  const keys = webhook.secret === true ? await readSecrets(host, webhook) : [];
  const asked = challengeIn(scheme, call, { body: null, isSigned: false });
  if (asked !== undefined) return echo(host, asked, { webhook, call, keys, body: null });
  if (call.method !== "POST") throw notAllowed();

  const verified = webhook.secret === true ? verify(host, webhook, call, keys) : undefined;
  const type = call.header("content-type");
  // A body with the key in it was verified as JSON, whatever it says it is; the key goes no further.
  const body =
    scheme.key === undefined
      ? readPayload(type, call.body)
      : withoutKey(scheme.key, parseJson(call.body) as Json);
  const confirmed = challengeIn(scheme, call, { body, isSigned: true });
  if (confirmed !== undefined) return echo(host, confirmed, { webhook, call, keys, body });

  const { query } = call;
  const value = {
    method: call.method,
    query: readForm(query),
    headers: headersOf(call, webhook, scheme),
    body,
  };
  const isOurs = scheme === SCHEMES.millrace;
  const signature = isOurs && verified !== undefined && once(webhook, verified);
  const { value: ref, replayed } = await oncePerKey(
    host,
    {
      tokenId: webhook.id,
      command: HOOK_PATTERN,
      joins: true,
      ...(deliveryOf(scheme, { call, body, verified }) ?? {
        key: call.header("idempotency-key"),
        args: { query, type: type ?? null, body: digestOf(call.body, "base64url") },
      }),
    },
    (rows) => start(host, webhook, { value, call }, { ...rows, ...(signature && { signature }) }),
  );
  const answer = await respond(host, webhook, call, ref);
  return { ...answer, headers: { ...answer.headers, ...(replayed ? REPLAYED : {}) } };
}

/** The refusal of a method; which challenges an address answers is not said. */
export function notAllowed(): ProblemError {
  return new ProblemError("method_not_allowed", { headers: { Allow: "POST" } });
}

/** Throws `unauthorized`, one answer for a signature that is missing, wrong, old or used. */
function verify(
  host: ServerHost,
  webhook: Webhook,
  call: HookCall,
  keys: readonly string[],
): Verified | undefined {
  const scheme = SCHEMES[webhook.scheme ?? "millrace"];
  const { signing, key } = scheme;
  if (signing !== null) {
    const verified = verifySignature({ ...scheme, signing }, call, { keys, now: host.now() });
    if (typeof verified !== "string") return verified;
    throw unsigned(host, webhook, call, { name: signing.header, reason: verified });
  }
  if (key === undefined || !hasKey(key, parseJson(call.body) as Json, keys)) {
    throw unsigned(host, webhook, call, { name: key?.name ?? "", reason: "wrong" });
  }
  return undefined;
}

/** The caller learns what is wanted, the operator also what was wrong. */
function unsigned(
  host: ServerHost,
  { id, template }: Webhook,
  { requestId }: HookCall,
  { name, reason }: { readonly name: string; readonly reason: Unsigned },
): ProblemError {
  host.log.warn({ requestId, webhookId: id, template, reason }, "webhook.refused");
  const challenge = name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
  return new ProblemError("unauthorized", {
    detail: "The call is not signed as this webhook wants it",
    headers: { "WWW-Authenticate": challenge },
  });
}

/** Key under which a signature is remembered, so that it counts once. */
function once({ id }: Webhook, { hash }: Verified): NonNullable<StartRows["signature"]> {
  return { hash: digestOf(Buffer.from(`${id}\n${hash}`), "hex"), ttlMs: REMEMBERED_MS };
}

function digestOf(bytes: Uint8Array, encoding: "hex" | "base64url"): string {
  return createHash("sha256").update(bytes).digest(encoding);
}

type Delivery = Pick<KeyedCall, "key" | "args" | "ttlMs" | "keepsRefusals">;

/** A delivery as the sender calls it, else as its signature does; undefined: a repetition cannot be told from a new one. */
function deliveryOf(
  scheme: Scheme,
  { call, body, verified }: { call: HookCall; body: Json; verified: Verified | undefined },
): Delivery | undefined {
  if (scheme === SCHEMES.millrace) return undefined;
  const id = scheme.delivery && textAt(scheme.delivery, call, body);
  const name = id ?? (verified?.isTimed === true ? verified.hash : undefined);
  if (name === undefined) return undefined;
  // The rest may differ in a repetition, and it is the same delivery. One that was refused may be mended and come again.
  const key = digestOf(Buffer.from(`${id === undefined}\n${name}`), "base64url");
  return { key, args: null, ttlMs: DELIVERY_MS, keepsRefusals: false };
}

function challengeIn(
  { challenges }: Scheme,
  call: HookCall,
  { body, isSigned }: { readonly body: Json; readonly isSigned: boolean },
): Challenge | undefined {
  return challenges.find(({ method, when, answer, isSigned: needs }) => {
    if (method !== call.method || needs !== isSigned) return false;
    if (when !== undefined) return textAt(when, call, body) === when.is;
    return !("text" in answer) && textAt(answer, call, body) !== undefined;
  });
}

/** Throws `unauthorized` for a wrong verify token, `invalid_args` for what is no challenge. */
function echo(
  host: ServerHost,
  { answer, verifyToken }: Challenge,
  about: { webhook: Webhook; call: HookCall; keys: readonly string[]; body: Json },
): HookAnswer {
  const { webhook, call, keys, body } = about;
  if (verifyToken !== undefined) {
    const wanted = keys.map((key) => verifyTokenOf(webhook, key));
    if (!isOneOf(textAt(verifyToken, call, body), wanted)) {
      throw unsigned(host, webhook, call, { name: "hub-verify-token", reason: "wrong" });
    }
  }
  const text = "text" in answer ? answer.text : textAt(answer, call, body);
  if (text === undefined || !ECHO.test(text)) {
    throw invalidArg("", "the challenge is not plain text of at most 1024 characters");
  }
  return { status: 200, headers: { "Content-Type": "text/plain; charset=utf-8" }, body: text };
}

/** Headers that the run gets: none with credentials, even if the webhook names one. */
function headersOf(
  call: HookCall,
  webhook: Webhook,
  { passes, signing }: Scheme,
): { readonly [name: string]: string } {
  const names = new Set([...ALWAYS, ...passes, ...webhook.headers]);
  if (webhook.secret === true && signing !== null) names.delete(signing.header);
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const value = call.header(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

async function start(
  host: ServerHost,
  webhook: Webhook,
  { value, call }: { readonly value: object; readonly call: HookCall },
  rows: StartRows,
): Promise<RunRef> {
  const { id, template, input } = webhook;
  const spec = await specOfTemplate(
    host.store,
    { slug: template },
    {
      inputs: { [input]: value as Json },
      trigger: "webhook",
      source: { webhookId: id },
      traceparent: call.traceparent,
    },
  );
  if (spec === undefined) {
    host.log.warn({ webhookId: id, template }, "webhook.no_template");
    throw notFound("webhook");
  }
  try {
    return await callExecutor(() => host.executor.start(spec, rows));
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (code === "signature_used")
      throw unsigned(host, webhook, call, { name: "millrace-signature", reason: "used" });
    if (code !== "flow_invalid") throw error;
    // The caller does not learn what is wrong with the flow; its author does.
    host.log.warn({ webhookId: id, template, err: error }, "webhook.flow_invalid");
    throw new ProblemError("flow_invalid");
  }
}

/** Throws `run_failed` where the outputs are waited for, and there will be none. */
async function respond(
  host: ServerHost,
  { scheme: sender = "millrace", respond: wanted = "run", respondWithinMs }: Webhook,
  { signal }: HookCall,
  { runId }: RunRef,
): Promise<HookAnswer> {
  const scheme = SCHEMES[sender];
  const accepted = (more: object): HookAnswer => ({
    status: scheme.taken ?? 202,
    headers: JSON_TYPE,
    body: JSON.stringify({ runId, ...more }),
    runId,
  });
  if (wanted === "run") return accepted({});
  const waitMs = respondWithinMs ?? scheme.respondWithinMs ?? RESPOND_WITHIN_MS;
  const { value } = await waitForRun({ host, signal }, runId, waitMs);
  const headers = { "Millrace-Run-Id": runId, Location: `/api/runs/${runId}` };
  if (!isEnded(value.status) || !("summary" in value)) {
    const answer = accepted({ status: value.status });
    return { ...answer, headers: { ...answer.headers, ...headers } };
  }
  const { status, summary } = value;
  if (status !== "succeeded" || summary === null) {
    throw new ProblemError("run_failed", { members: { runId, state: status }, headers });
  }
  const outputs = await wholeOutputs(summary, (ref) => host.journal.getValue(runId, ref));
  const body = JSON.stringify(outputs);
  return { status: 200, headers: { ...JSON_TYPE, ...headers }, body, runId };
}
