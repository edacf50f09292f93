/** Functions over the UTF-8 form of text. Text with half a surrogate pair has none: `bad_argument`. */
import { sha256Hex } from "@millrace/contracts/kit";
import { badArgument, handleText } from "../budget.ts";
import { isWellFormed } from "../data.ts";
import { type CallSite, define, type FunctionRow } from "./define.ts";
import { mapping } from "./text.ts";

/** RFC 4648, section 4, with its padding; the platform's decoder forgives more. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** How many arguments a call takes everywhere. */
const CHUNK = 8_192;
/** Reserved in RFC 3986, section 2.2, but left alone by `encodeURIComponent`. */
const LEFT_ALONE = /[!'()*]/g;
/** A digest takes about as long as handling eight times the text. */
const SHA_WEIGHT = 8;

export const BYTES: readonly FunctionRow[] = [
  mapping("base64Encode", encode, 2),
  mapping("base64Decode", decode, 2),
  define<[string]>({
    signature: "sha256(string) string",
    call(ev, site, text) {
      handleText(ev, site, text.length * SHA_WEIGHT);
      return sha256Hex(utf8(site, text));
    },
  }),
  mapping(
    "uriEncode",
    (text, site) => {
      if (!isWellFormed(text)) noUtf8(site);
      return encodeURIComponent(text).replace(
        LEFT_ALONE,
        (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
      );
    },
    2,
  ),
  mapping(
    "uriDecode",
    (text, site) => {
      try {
        return decodeURIComponent(text);
      } catch {
        return badArgument(site, "uriDecode found a % that begins no UTF-8 text");
      }
    },
    2,
  ),
];

function encode(text: string, site: CallSite): string {
  const bytes = utf8(site, text);
  let binary = "";
  for (let at = 0; at < bytes.length; at += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  }
  return btoa(binary);
}

function decode(text: string, site: CallSite): string {
  if (!BASE64.test(text)) {
    badArgument(site, "base64Decode found text that is not base64 (RFC 4648, padded)");
  }
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = binary.charCodeAt(i);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return badArgument(site, "base64Decode found bytes that are not UTF-8 text");
  }
}

function utf8(site: CallSite, text: string): Uint8Array {
  if (!isWellFormed(text)) noUtf8(site);
  return new TextEncoder().encode(text);
}

function noUtf8(site: CallSite): never {
  badArgument(site, `${site.name} found half of a surrogate pair, which UTF-8 cannot hold`);
}
