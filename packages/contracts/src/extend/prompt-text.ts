/**
 * What identifies a prompt: the text whose SHA-256 is its `promptDigest`. The engine keeps finished answers by it across a
 * restart, and recorded answers are found by it, so engine and providers read it from here.
 *   P1  The order of members does not matter; the order of messages, parts and tools does.
 *   P2  What only says how a call travels (signal, headers, options of one provider) is no part of it.
 */
import { isObject } from "../kit/objects.ts";
import type { AiCall } from "./ai.ts";

/** Messages, tools, sampling and schema of a call as one canonical JSON text. Bytes stand in it as base64. */
export function promptText(call: AiCall): string {
  const { abortSignal: _, headers: _headers, providerOptions: _options, ...counted } = call;
  return JSON.stringify(counted, canonical);
}

function canonical(name: string, value: unknown): unknown {
  if (name === "providerOptions" || name === "providerMetadata") return undefined;
  if (value instanceof Uint8Array) return { base64: base64Of(value) };
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** @see RFC 4648 section 4, without padding */
function base64Of(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 6; ) {
      bits -= 6;
      text += ALPHABET[(held >> bits) & 63];
    }
    held &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + ALPHABET[(held << (6 - bits)) & 63];
}
