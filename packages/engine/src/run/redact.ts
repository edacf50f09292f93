/**
 * Keeps known secrets out of the log: every string of an event is searched for each of them, as it is, escaped in JSON,
 * percent-encoded and in base64; a hit becomes `[redacted]`.
 *   R1  A text that was cut inside a secret shows no part of it: eight units or more of one at either end go, too.
 *   R2  A run that knows no secret has no redactor and pays nothing.
 */
import { cutText, type ExecutionEvent, type Json, secretForms } from "@millrace/contracts";
import { toBase64 } from "../base64.ts";

/** Replacement of a secret in a text. */
export const MARK = "[redacted]";
const SHORTEST = 6; // shorter ones would hide ordinary words
const PART = 8; // of a secret at the end of a text that was cut; shorter parts are often ordinary words
const LINE = 16; // shortest line of a secret of several lines that is a secret by itself, as those of a private key

const SECRET_KEY =
  /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key)$|password|secret|token$/i;

/** Takes secrets out of texts and JSON; each is replaced by `MARK`. One of fewer than 6 characters is not searched for. */
export class Redactor {
  /** It knows no secret of its own. */
  isEmpty = true;
  readonly #shared: Redactor | null;
  /** How many secrets are remembered, the newest ones. */
  readonly #most: number;
  readonly #secrets: Set<string> = new Set();
  #search: Search | null = null;
  /** The content of `#shared` when `#search` was made. */
  #sharedSearch: Search | null = null;

  /** Knows also what `shared` knows, now and later. */
  constructor(shared: Redactor | null = null, most: number = Number.POSITIVE_INFINITY) {
    this.#shared = shared;
    this.#most = most;
  }

  /** Learns a secret; false: it was known, or is too short to be searched for. */
  add(secret: string): boolean {
    if (secret.length < SHORTEST || this.#secrets.has(secret)) return false;
    this.#secrets.add(secret);
    this.isEmpty = false;
    for (const oldest of this.#secrets) {
      if (this.#secrets.size <= this.#most) break;
      this.#secrets.delete(oldest);
    }
    this.#search = null;
    return true;
  }

  /** The event without any known secret; the same object when it holds none. */
  redact(event: ExecutionEvent): ExecutionEvent {
    return this.clean(event as unknown as Json) as unknown as ExecutionEvent;
  }

  /** The first `max` units of a cleaned text. Of one that is not whole the end goes too: half a secret may stand there. */
  beginning(text: string, max: number, isWhole: boolean): string {
    const clean = this.clean(text);
    const known = isWhole ? clean.length : Math.max(0, clean.length - (this.#made()?.longest ?? 0));
    return cutText(clean, Math.min(max, known)).text;
  }

  /** Units at the end of a text that may be the beginning of a secret; a whole one before them is none. */
  unsure(text: string): number {
    const search = this.#made();
    if (search === null) return 0;
    let from = 0;
    for (const match of text.matchAll(search.whole)) from = match.index + match[0].length;
    for (let at = Math.max(from, text.length - search.longest + 1); at < text.length; at += 1) {
      const end = text.slice(at);
      for (const form of search.forms) if (form.startsWith(end)) return end.length;
    }
    return 0;
  }

  /** A value without any known secret; the same one when it holds none. */
  clean<T extends Json | undefined>(value: T): T {
    const search = this.#made();
    return search === null ? value : (replaced(value, search) as T);
  }

  #made(): Search | null {
    const shared = this.#shared === null ? null : this.#shared.#made();
    if (this.#secrets.size === 0) return shared;
    if (this.#search === null || this.#sharedSearch !== shared) {
      this.#search = searchFor([...this.#secrets].flatMap(formsOf), shared);
      this.#sharedSearch = shared;
    }
    return this.#search;
  }
}

/** Search for the secrets in a text. */
interface Search {
  readonly forms: ReadonlySet<string>;
  readonly longest: number;
  /** Units of the shortest text that may hold something. */
  readonly least: number;
  readonly whole: RegExp;
  /** Finds something in every text that holds a secret or a part of one: most texts are searched once, with this. */
  readonly any: RegExp;
  /** The first and the last units of those that may be found in part. */
  readonly heads: RegExp;
  readonly tails: RegExp;
}

function searchFor(own: readonly string[], shared: Search | null): Search {
  const forms = new Set([...own, ...(shared?.forms ?? [])]);
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  const long = longestFirst.filter(({ length }) => length > PART);
  const heads = long.map((form) => form.slice(0, PART));
  const tails = long.map((form) => form.slice(-PART));
  const short = longestFirst.slice(long.length);
  return {
    forms,
    longest: longestFirst[0]?.length ?? 0,
    least: Math.min(PART, longestFirst.at(-1)?.length ?? PART),
    whole: anyOf(longestFirst),
    any: anyOf([...heads, ...tails, ...short]),
    heads: placesOf(heads),
    tails: placesOf(tails),
  };
}

function anyOf(texts: readonly string[]): RegExp {
  return new RegExp(alternatives(texts), "g");
}

/** Finds every place of any of the texts, those that overlap as well. */
function placesOf(texts: readonly string[]): RegExp {
  return new RegExp(`(?=${alternatives(texts)})`, "g");
}

/** Nothing is found for no texts. */
function alternatives(texts: readonly string[]): string {
  return texts.length === 0 ? "(?!)" : [...new Set(texts)].map(escapeRegExp).join("|");
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

function replaced(value: Json | undefined, search: Search): Json | undefined {
  if (typeof value === "string") {
    if (value.length < search.least || value.search(search.any) < 0) return value;
    return withoutParts(value.replace(search.whole, MARK), search);
  }
  if (typeof value === "number") return search.forms.has(String(value)) ? MARK : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const list = value.map((inner) => replaced(inner, search) ?? null);
    return list.some((inner, i) => inner !== value[i]) ? list : value;
  }
  let changed = false;
  const entries = Object.entries(value).map(([key, inner]): [string, Json | undefined] => {
    const cleanKey = key.length < search.least ? key : key.replace(search.whole, MARK);
    const clean = replaced(inner, search);
    changed ||= cleanKey !== key || clean !== inner;
    return [cleanKey, clean];
  });
  return changed ? Object.fromEntries(entries) : value;
}

/** A text that begins or ends inside a secret, without that part. */
function withoutParts(text: string, search: Search): string {
  if (text.length < PART) return text;
  const from = partAtStart(text, search);
  const to = partAtEnd(text, search);
  if (from === 0 && to === text.length) return text;
  const rest = text.slice(from, Math.max(from, to));
  return `${from > 0 ? MARK : ""}${rest}${to < text.length ? MARK : ""}`;
}

/** Where the part of a secret ends that a text begins with; 0: there is none. */
function partAtStart(text: string, { forms, longest, tails }: Search): number {
  const start = text.slice(0, longest);
  let end = 0;
  for (const { index } of start.matchAll(tails)) {
    const part = start.slice(0, index + PART);
    if (some(forms, (form) => form.endsWith(part))) end = part.length;
  }
  return end;
}

/** Where the part of a secret begins that a text ends with; its length: there is none. */
function partAtEnd(text: string, { forms, longest, heads }: Search): number {
  const before = Math.max(0, text.length - longest);
  const end = text.slice(before);
  for (const { index } of end.matchAll(heads)) {
    const part = end.slice(index);
    if (some(forms, (form) => form.startsWith(part))) return before + index;
  }
  return text.length;
}

function some(forms: ReadonlySet<string>, is: (form: string) => boolean): boolean {
  for (const form of forms) if (is(form)) return true;
  return false;
}

/** `secretForms` leaves out what depends on the text around a base64 form; alone that text is known as well. */
function formsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= LINE && line !== secret);
  const base64 = toBase64(new TextEncoder().encode(secret));
  const url = base64.replaceAll("+", "-").replaceAll("/", "_");
  const plain = [base64, url].flatMap((form) => [form, form.replaceAll("=", "")]);
  return [...secretForms(secret), ...plain, ...lines];
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
