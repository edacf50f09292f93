/**
 * Who calls a webhook, as data: how a sender signs, what it calls a delivery, and which challenges it expects an answer to.
 *   S1  A signature is checked over the bytes as they came, in constant time, against every key that is valid.
 *   S2  A header that was sent twice counts as absent.
 *   S3  There is one way to write a signature: digits of another case, and times with other characters, are refused.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Json, JsonObject, WebhookScheme } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";

/** Where something is in a call. `member`: of a JSON object at the top of the body. */
export type Place =
  | { readonly header: string }
  | { readonly query: string }
  | { readonly member: string };

/** A question that a sender asks to see that the address is its owner's. It starts no run. */
export interface Challenge {
  readonly method: "GET" | "POST";
  /** A call is this challenge when what is here has this value. Absent: when `answer` is there. */
  readonly when?: Place & { readonly is: string };
  /** The answer: the value at a place, or this text. */
  readonly answer: Place | { readonly text: string };
  /** Whether the call is signed as any other. */
  readonly isSigned: boolean;
  /** Where the verify token is, without which it is not answered. */
  readonly verifyToken?: Place;
}

/** How a sender signs. */
interface Signing {
  /** The header of the signatures. */
  readonly header: string;
  /** Separator of several values of that header. Absent: it has one. */
  readonly separator?: string;
  /** Prefix of a signature. */
  readonly prefix: string;
  readonly encoding: "hex" | "base64";
  /** Signed text before the body; `{id}` and `{time}` stand for theirs. */
  readonly before: string;
  /** Where the time is, in seconds: a header, or the value of the signatures' header that begins so. Absent: none is signed. */
  readonly time?: { readonly header: string } | { readonly prefix: string };
  /** Keys are base64 after this. Absent: they are used as they are written. */
  readonly base64After?: string;
}

/** One sender. */
export interface Scheme {
  /** Null: calls are not signed; each has the key at `key` instead. */
  readonly signing: Signing | null;
  /** Members of the body that must each be the key: those called `name` of the objects in the list `list`. */
  readonly key?: { readonly list: string; readonly name: string };
  /** The sender's id of a delivery, the same when it sends the delivery again. */
  readonly delivery?: Place;
  /** Headers that every run gets. */
  readonly passes: readonly string[];
  readonly challenges: readonly Challenge[];
  /** The status of a call that was taken, where the sender takes nothing but 200 for success. Absent: 202. */
  readonly taken?: 200;
  /** How long an answer waits for outputs, where the sender waits less than most. */
  readonly respondWithinMs?: number;
}

/** How far the clocks of sender and server may be apart, and how long a call may be on its way. */
export const WINDOW_S = 300;

/** `sha256=<hex>` over the body, which Meta has from WebSub. */
const HUB: Signing = {
  header: "x-hub-signature-256",
  prefix: "sha256=",
  encoding: "hex",
  before: "",
};

/** `t=<seconds>,v1=<hex>` over `<seconds>.<body>`, which we have from Stripe. */
const TIMED: Omit<Signing, "header"> = {
  separator: ",",
  prefix: "v1=",
  encoding: "hex",
  before: "{time}.",
  time: { prefix: "t=" },
};

export const SCHEMES: { readonly [S in WebhookScheme]: Scheme } = {
  millrace: {
    signing: { header: "millrace-signature", ...TIMED },
    passes: [],
    challenges: [],
  },
  /** @see https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
  github: {
    signing: HUB,
    delivery: { header: "x-github-delivery" },
    passes: ["x-github-event", "x-github-delivery"],
    challenges: [
      {
        method: "POST",
        when: { header: "x-github-event", is: "ping" },
        answer: { text: "pong" },
        isSigned: true,
      },
    ],
  },
  /** @see https://docs.stripe.com/webhooks#verify-manually */
  stripe: {
    signing: { header: "stripe-signature", ...TIMED },
    delivery: { member: "id" },
    passes: [],
    challenges: [],
  },
  /** @see https://docs.slack.dev/authentication/verifying-requests-from-slack */
  slack: {
    signing: {
      header: "x-slack-signature",
      prefix: "v0=",
      encoding: "hex",
      before: "v0:{time}:",
      time: { header: "x-slack-request-timestamp" },
    },
    delivery: { member: "event_id" },
    passes: ["x-slack-retry-num", "x-slack-retry-reason"],
    respondWithinMs: 2_500, // it calls again after three seconds
    challenges: [
      {
        method: "POST",
        when: { member: "type", is: "url_verification" },
        answer: { member: "challenge" },
        isSigned: true,
      },
    ],
  },
  /** @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
  standard: {
    signing: {
      header: "webhook-signature",
      separator: " ",
      prefix: "v1,",
      encoding: "base64",
      before: "{id}.{time}.",
      time: { header: "webhook-timestamp" },
      base64After: "whsec_",
    },
    delivery: { header: "webhook-id" },
    passes: ["webhook-id"],
    challenges: [],
  },
  /** @see https://developers.facebook.com/docs/graph-api/webhooks/getting-started */
  meta: {
    signing: HUB,
    passes: [],
    taken: 200,
    challenges: [
      {
        method: "GET",
        when: { query: "hub.mode", is: "subscribe" },
        answer: { query: "hub.challenge" },
        isSigned: false,
        verifyToken: { query: "hub.verify_token" },
      },
    ],
  },
  /** @see https://www.dropbox.com/developers/reference/webhooks */
  dropbox: {
    signing: { header: "x-dropbox-signature", prefix: "", encoding: "hex", before: "" },
    passes: [],
    taken: 200,
    challenges: [{ method: "GET", answer: { query: "challenge" }, isSigned: false }],
  },
  /** @see https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks */
  "microsoft-graph": {
    signing: null,
    key: { list: "value", name: "clientState" },
    passes: [],
    challenges: [{ method: "POST", answer: { query: "validationToken" }, isSigned: false }],
  },
};

/** The parts of a call that are signed, or that sign it. */
export interface SignedCall {
  header(name: string): string | undefined;
  readonly body: Uint8Array;
}

/** A valid signature. `hash`: what was signed with which key; `isTimed`: it is that of one sending alone. */
export interface Verified {
  readonly hash: string;
  readonly isTimed: boolean;
}

const TIME = /^[0-9]{1,12}$/;
const WRITTEN = { hex: /^[0-9a-f]{64}$/, base64: /^[A-Za-z0-9+/]{43}=$/ };

/** Why a call is refused: it is not signed as its scheme says, with no key of the webhook, too far from now, or once more. */
export type Unsigned = "missing" | "wrong" | "stale" | "used";

/** Checks the signature of a call against the keys; else why it does not count. `now` in epoch milliseconds. */
export function verifySignature(
  { signing, delivery }: Scheme & { readonly signing: Signing },
  call: SignedCall,
  { keys, now }: { readonly keys: readonly string[]; readonly now: number },
): Verified | Unsigned {
  const { separator, prefix, encoding, time: place } = signing;
  const line = onceIn(call, signing.header);
  const values = separator === undefined ? [line] : line.split(separator);
  const given = valuesAfter(prefix, values)
    .filter((text) => WRITTEN[encoding].test(text))
    .map((text) => Buffer.from(text, encoding));
  const time = place === undefined ? undefined : timeOf(place, { call, values });
  if (time === null || given.length === 0) return "missing";
  const id = delivery !== undefined && "header" in delivery ? onceIn(call, delivery.header) : "";
  if (signing.before.includes("{id}") && id === "") return "missing";
  let right: Buffer | undefined;
  for (const key of keys) {
    const expected = digestOf(signing, { key, id, time, body: call.body });
    // Every one is compared: how long it takes says nothing about which was right.
    for (const each of given) if (timingSafeEqual(expected, each)) right = expected;
  }
  const isFresh = time === undefined || Math.abs(now / 1_000 - Number(time)) <= WINDOW_S;
  if (right === undefined) return "wrong";
  return isFresh ? { hash: right.toString("hex"), isTimed: time !== undefined } : "stale";
}

interface Sent {
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array;
}

/** A call as its sender signs it, at `time` in epoch seconds; `id`: what it calls the delivery, where no header says so. */
export function sentAs(
  { signing, delivery, key: place }: Scheme,
  { headers, body }: Sent,
  {
    key,
    id: given,
    time: at,
  }: { readonly key: string; readonly id: string; readonly time: number },
): Sent {
  if (signing === null) return { headers, body: place ? withKey(place, body, key) : body };
  const { header, separator = "", prefix, encoding, time } = signing;
  const name = delivery !== undefined && "header" in delivery ? delivery.header : undefined;
  const id = headers[name ?? ""] ?? given;
  const digest = digestOf(signing, { key, id, time: `${at}`, body }).toString(encoding);
  const begin = time !== undefined && "prefix" in time ? `${time.prefix}${at}${separator}` : "";
  return {
    headers: {
      ...headers,
      [header]: `${begin}${prefix}${digest}`,
      ...(time !== undefined && "header" in time && { [time.header]: `${at}` }),
      ...(name !== undefined && { [name]: id }),
    },
    body,
  };
}

/** The body with the key where it must be; what is no such JSON stays. */
function withKey({ list, name }: NonNullable<Scheme["key"]>, body: Uint8Array, key: string) {
  try {
    const value = JSON.parse(Buffer.from(body).toString());
    const items = value[list].map((item: object) => ({ ...item, [name]: key }));
    return Buffer.from(JSON.stringify({ ...value, [list]: items }));
  } catch {
    return body;
  }
}

/** The body for a run, without the key in it. */
export function withoutKey({ list, name }: NonNullable<Scheme["key"]>, body: Json): Json {
  const items = isObject(body) ? body[list] : undefined;
  if (!Array.isArray(items)) return body;
  const rest = items.map((item) =>
    isObject(item)
      ? Object.fromEntries(Object.entries(item).filter(([key]) => key !== name))
      : item,
  );
  return { ...(body as JsonObject), [list]: rest };
}

/** Whether each member that must be the key is one of these. */
export function hasKey(
  { list, name }: NonNullable<Scheme["key"]>,
  body: Json,
  keys: readonly string[],
): boolean {
  const items = isObject(body) ? body[list] : undefined;
  if (!Array.isArray(items) || items.length === 0) return false;
  return items.every((item) => isObject(item) && isOneOf(item[name], keys));
}

/** Compares a text with secrets, in constant time. */
export function isOneOf(given: unknown, secrets: readonly string[]): boolean {
  if (typeof given !== "string") return false;
  const hash = (text: string) => createHmac("sha256", "compare").update(text).digest();
  const hashed = hash(given);
  return secrets.map((each) => timingSafeEqual(hash(each), hashed)).includes(true);
}

/** Whether a key can be one of this scheme. */
export function isKeyOf({ signing }: Scheme, key: string): boolean {
  if (signing?.base64After === undefined) return true;
  return /^[A-Za-z0-9+/]{16,}={0,2}$/.test(after(signing.base64After, key) ?? key);
}

function digestOf(
  { before, base64After }: Signing,
  { key, id, time, body }: { key: string; id: string; time: string | undefined; body: Uint8Array },
): Buffer {
  const bytes =
    base64After === undefined ? key : Buffer.from(after(base64After, key) ?? key, "base64");
  const head = before.replace(/\{(?:id|time)\}/g, (hole) => (hole === "{id}" ? id : (time ?? "")));
  return createHmac("sha256", bytes).update(head).update(body).digest();
}

/** Null: it is missing, there twice, or no time. */
function timeOf(
  place: NonNullable<Signing["time"]>,
  { call, values }: { readonly call: SignedCall; readonly values: readonly string[] },
): string | null {
  const found =
    "header" in place ? [onceIn(call, place.header)] : valuesAfter(place.prefix, values);
  const [time = ""] = found;
  return found.length === 1 && TIME.test(time) ? time : null;
}

/** The value of a header; empty when it is absent, or there twice: Node joins such values by a comma and a space. */
function onceIn(call: SignedCall, name: string): string {
  const value = call.header(name) ?? "";
  return value.includes(", ") ? "" : value;
}

function valuesAfter(prefix: string, values: readonly string[]): string[] {
  return values.flatMap((value) => after(prefix, value) ?? []);
}

function after(prefix: string, value: string): string | undefined {
  return value.startsWith(prefix) ? value.slice(prefix.length) : undefined;
}
