/**
 * Signed calls: `Millrace-Signature: t=<epoch seconds>,v1=<hex HMAC-SHA-256 of "<t>.<raw body>">`. The time is part of what
 * is signed, so that a call that was overheard is of no use after five minutes.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** How far the clocks of caller and server may be apart, and how long a call may be on its way. */
const WINDOW_S = 300;
/** A signature is valid from `WINDOW_S` before its time through `WINDOW_S` after it: it is remembered longer than that. */
const REMEMBERED_MS = 2 * WINDOW_S * 1_000 + 1;

const HEADER = /^t=([0-9]{1,12}),v1=([0-9a-f]{64})$/;

/** One signed call. */
export interface SignedCall {
  /** Value of the header; undefined: it is absent. */
  readonly header: string | undefined;
  readonly body: Uint8Array;
  readonly webhookId: string;
  readonly secret: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What must be remembered of a valid signature, so that it counts once; undefined: it is missing, old or wrong. */
export function checkSignature(
  call: SignedCall,
): { readonly hash: string; readonly ttlMs: number } | undefined {
  const [, time = "", given = ""] = HEADER.exec(call.header ?? "") ?? [];
  if (given === "") return undefined;
  const expected = createHmac("sha256", call.secret).update(`${time}.`).update(call.body).digest();
  const isRight = timingSafeEqual(expected, Buffer.from(given, "hex"));
  const isFresh = Math.abs(call.now / 1_000 - Number(time)) <= WINDOW_S;
  if (!isRight || !isFresh) return undefined;
  const hash = createHash("sha256").update(`${call.webhookId}\n${given}`).digest("hex");
  return { hash, ttlMs: REMEMBERED_MS };
}
