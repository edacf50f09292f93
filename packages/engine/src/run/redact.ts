/**
 * Keeps known secrets out of the log: every string of an event is searched for each of them, as it is, escaped in JSON,
 * percent-encoded and in base64; a hit becomes `[redacted]`. A run that knows no secret has no redactor and pays nothing.
 */
import { cutText, type ExecutionEvent, type Json, secretForms } from "@millrace/contracts";
import { toBase64 } from "../nodes/base64.ts";

/** What stands in the place of a secret. */
export const MARK = "[redacted]";
const SHORTEST = 6; // shorter ones would hide ordinary words

const SECRET_KEY =
  /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key)$|password|secret|token$/i;

export class Redactor {
  #pattern: RegExp | null = null;
  #longest = 0;
  readonly #forms: Set<string> = new Set();

  /** Learns a secret. */
  add(secret: string): void {
    if (secret.length < SHORTEST || this.#forms.has(secret)) return;
    for (const form of formsOf(secret)) this.#forms.add(form);
    const longestFirst = [...this.#forms].sort((a, b) => b.length - a.length);
    this.#longest = longestFirst[0]?.length ?? 0;
    this.#pattern = new RegExp(longestFirst.map(escapeRegExp).join("|"), "g");
  }

  /** The event without any known secret; the same object when it holds none. */
  redact(event: ExecutionEvent): ExecutionEvent {
    return this.clean(event as unknown as Json) as unknown as ExecutionEvent;
  }

  /** The first `max` units of a cleaned text. Of one that is not whole the end goes too: half a secret may stand there. */
  beginning(text: string, max: number, isWhole: boolean): string {
    const clean = this.clean(text);
    const known = isWhole ? clean.length : Math.max(0, clean.length - this.#longest);
    return cutText(clean, Math.min(max, known)).text;
  }

  /** Units at the end of a text that may be the beginning of a secret; a whole one before them is none. */
  unsure(text: string): number {
    if (this.#pattern === null) return 0;
    let from = 0;
    for (const match of text.matchAll(this.#pattern)) from = match.index + match[0].length;
    for (let at = Math.max(from, text.length - this.#longest + 1); at < text.length; at += 1) {
      const end = text.slice(at);
      for (const form of this.#forms) if (form.startsWith(end)) return end.length;
    }
    return 0;
  }

  /** A value without any known secret. */
  clean<T extends Json | undefined>(value: T): T {
    const pattern = this.#pattern;
    return pattern === null ? value : (replaced(value, pattern) as T);
  }
}

/** `value` with the values of keys that name secrets replaced, at every depth. */
export function maskKeys(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((inner) => maskKeys(inner) ?? null);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, inner]) => [key, SECRET_KEY.test(key) ? MARK : maskKeys(inner)]),
  );
}

function replaced(value: Json | undefined, pattern: RegExp): Json | undefined {
  if (typeof value === "string") return value.replace(pattern, MARK);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const list = value.map((inner) => replaced(inner, pattern) ?? null);
    return list.some((inner, i) => inner !== value[i]) ? list : value;
  }
  let changed = false;
  const entries = Object.entries(value).map(([key, inner]): [string, Json | undefined] => {
    const cleanKey = key.replace(pattern, MARK);
    const clean = replaced(inner, pattern);
    changed ||= cleanKey !== key || clean !== inner;
    return [cleanKey, clean];
  });
  return changed ? Object.fromEntries(entries) : value;
}

/** `secretForms` leaves out what depends on the text around a base64 form; alone that text is known as well. */
function formsOf(secret: string): string[] {
  const base64 = toBase64(new TextEncoder().encode(secret));
  const url = base64.replaceAll("+", "-").replaceAll("/", "_");
  const plain = [base64, url].flatMap((form) => [form, form.replaceAll("=", "")]);
  return [...secretForms(secret), ...plain];
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
