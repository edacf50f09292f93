/**
 * Takes out of a text what names or pays for a person: credentials, keys, e-mail addresses, payment cards, IBANs and phone
 * numbers. For whole texts, never for pieces of a stream. Every search is linear in the text.
 */
import type { Json } from "@millrace/contracts";
import { SECRET_PATTERN } from "@millrace/dsl";
import { fromBase64 } from "@millrace/engine/pack";

/** A value in which every text, the names of members too, is without personal data and credentials. */
export function redactContent<T extends Json>(value: T): T {
  return redacted(value) as T;
}

function redacted(value: Json): Json {
  if (typeof value === "string") return redactText(value);
  if (typeof value === "number") return isCard(String(value)) ? "[card]" : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(redacted);
  const entries = Object.entries(value).map(([key, inner]): [string, Json | undefined] => [
    redactText(key),
    inner === undefined ? inner : redacted(inner),
  ]);
  return Object.fromEntries(entries);
}

/** Shortest text that any rule below finds something in. */
const SHORTEST = 5;

/** One text; the order counts, because a later rule must not see half of what an earlier one takes. */
function redactText(text: string): string {
  if (text.length < SHORTEST) return text;
  let clean = text.replace(AUTHORIZATION, authorization).replace(PRIVATE_KEY, "[key]");
  clean = clean.replace(KEYS, "[key]");
  clean = withoutEmails(clean);
  clean = withoutIbans(clean.replace(DIGITS, withoutCards));
  return clean.replace(PHONE, "[phone]");
}

const AUTHORIZATION = /(?<![A-Za-z])(Bearer|Basic)[ \t]{1,8}([A-Za-z0-9._~+/-]{6,}={0,2})/gi;

/** "Basic" is also an English word: what follows it as plain text is none, unless it reads as `user:password`. */
function authorization(found: string, scheme: string, token: string): string {
  if (scheme.toLowerCase() === "bearer" || !/^[A-Za-z]?[a-z]+[.]?$/.test(token)) return "[auth]";
  const bytes = fromBase64(token);
  return bytes?.includes(COLON) === true ? "[auth]" : found;
}

const COLON = 0x3a;

const KEYS = new RegExp(SECRET_PATTERN, "g");

/** The key with its header; without a footer up to the end of what can belong to it. */
const PRIVATE_KEY =
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g;

const MAX_LOCAL = 64; // RFC 5321, section 4.5.3.1
const MAX_DOMAIN = 255;
const LOCAL = /[\p{L}\p{N}._%+'-]/u;
const DOMAIN = /^[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?/u;

/** Goes from one `@` to the next and looks a bounded way to both sides. */
function withoutEmails(text: string): string {
  let clean = "";
  let done = 0;
  for (let at = text.indexOf("@"); at !== -1; at = text.indexOf("@", at + 1)) {
    let start = at;
    while (start > done && at - start < MAX_LOCAL && LOCAL.test(text[start - 1] as string)) {
      start -= 1;
    }
    const domain = DOMAIN.exec(text.slice(at + 1, at + 1 + MAX_DOMAIN))?.[0] ?? "";
    if (start === at || !domain.includes(".")) continue;
    clean += `${text.slice(done, start)}[email]`;
    done = at + 1 + domain.length;
  }
  return done === 0 ? text : clean + text.slice(done);
}

/** Groups of digits with one separator between them. */
const DIGITS = /(?<![\d])\d+(?:[ \u00a0-]\d+)*/g;
const MIN_CARD = 13;
const MAX_CARD = 19;

/** Replaces each row of neighbouring groups that is the number of a payment card (ISO/IEC 7812). */
function withoutCards(found: string): string {
  if (found.length < MIN_CARD) return found;
  const groups = found.split(/([ \u00a0-])/); // digits at even places
  let clean = "";
  for (let from = 0; from < groups.length; ) {
    const to = cardEnd(groups, from);
    clean += to === undefined ? (groups[from] as string) : "[card]";
    from = to ?? from + 1;
    if (from < groups.length) {
      clean += groups[from] as string;
      from += 1;
    }
  }
  return clean;
}

/** Behind the last group of the longest card that begins at a group. */
function cardEnd(groups: readonly string[], from: number): number | undefined {
  let digits = "";
  let end: number | undefined;
  for (let at = from; at < groups.length; at += 2) {
    digits += (groups[at] as string).slice(0, MAX_CARD + 1);
    if (digits.length > MAX_CARD) break;
    if (isCard(digits)) end = at + 1;
  }
  return end;
}

/** 13 to 19 digits that begin with 2 to 6; times in milliseconds begin with 1. */
function isCard(digits: string): boolean {
  if (!/^[2-6]\d{12,18}$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i += 1) {
    const digit = (digits.charCodeAt(digits.length - 1 - i) - ZERO) * (i % 2 === 0 ? 1 : 2);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

/** Length of an IBAN by country. @see SWIFT, IBAN registry */
const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
    .split(" ")
    .map((word) => [word.slice(0, 2), Number(word.slice(2))]),
);

const IBAN = /(?<!\p{L})[a-z]{2}\d{2}(?=[ \u00a0]?[a-z\d])/giu;
/** Text that may begin an IBAN: letters and digits, also in groups. */
const IBAN_TEXT = /(?:[ \u00a0]?[a-z\d]){15,34}/iy;
const BLANKS = /[ \u00a0]/g;

function withoutIbans(text: string): string {
  let clean = "";
  let done = 0;
  for (const { index, 0: beginning } of text.matchAll(IBAN)) {
    const end = index < done ? undefined : ibanEnd(text, index, beginning);
    if (end === undefined) continue;
    clean += `${text.slice(done, index)}[iban]`;
    done = end;
  }
  return done === 0 ? text : clean + text.slice(done);
}

/** Behind the IBAN that begins at a place. */
function ibanEnd(text: string, start: number, beginning: string): number | undefined {
  const length = IBAN_LENGTHS.get(beginning.slice(0, 2).toUpperCase());
  if (length === undefined) return undefined;
  IBAN_TEXT.lastIndex = start;
  const found = IBAN_TEXT.exec(text)?.[0] ?? "";
  const compact = found.replace(BLANKS, "").slice(0, length).toUpperCase();
  if (compact.length < length || remainder(compact) !== 1) return undefined;
  let end = start;
  for (let left = length; left > 0; end += 1) if (!/[ \u00a0]/.test(text[end] as string)) left -= 1;
  return end;
}

/** ISO 13616: the first four characters go to the end, letters count from 10, and 97 divides all but 1. */
function remainder(compact: string): number {
  let rest = 0;
  for (let i = 0; i < compact.length; i += 1) {
    const unit = compact.charCodeAt((i + 4) % compact.length);
    rest = (unit <= NINE ? rest * 10 + unit - ZERO : rest * 100 + unit - LETTER_ZERO) % 97;
  }
  return rest;
}

const ZERO = 0x30;
const NINE = 0x39;
/** `A` counts 10. */
const LETTER_ZERO = 0x41 - 10;

/** `+` and 7 to 15 digits (E.164), however they are grouped. */
const PHONE = /\+[1-9](?:[ \u00a0.()/-]{0,3}\d){6,14}(?!\d)/g;
