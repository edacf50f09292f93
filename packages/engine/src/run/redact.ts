/**
 * Keeps known secrets out of the log: every string of an event is searched for each of them, as it is, escaped in JSON,
 * percent-encoded and in base64; a hit becomes `[redacted]`. A run that knows no secret has no redactor and pays nothing.
 */
import type { ExecutionEvent, Json } from "@millrace/contracts";

const MARK = "[redacted]";
const SHORTEST = 6; // shorter ones would hide ordinary words

const SECRET_KEY =
  /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key)$|password|secret|token$/i;

export class Redactor {
  #pattern: RegExp | null = null;
  readonly #forms: Set<string> = new Set();

  /** Learns a secret. */
  add(secret: string): void {
    if (secret.length < SHORTEST) return;
    for (const form of formsOf(secret)) this.#forms.add(form);
    const longestFirst = [...this.#forms].sort((a, b) => b.length - a.length);
    this.#pattern = new RegExp(longestFirst.map(escapeRegExp).join("|"), "g");
  }

  /** The event without any known secret; the same object when it holds none. */
  redact(event: ExecutionEvent): ExecutionEvent {
    return this.clean(event as unknown as Json) as unknown as ExecutionEvent;
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

function formsOf(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  const base64 = btoa(String.fromCharCode(...bytes));
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    base64,
    base64.replaceAll("=", ""),
    base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""),
  ];
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
