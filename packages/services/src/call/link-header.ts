/**
 * The target of `rel="next"` in a `Link` header; `undefined` when there is none. Reads any text in linear time.
 * @see RFC 8288, section 3
 */
export function nextLink(header: string): string | undefined {
  for (const [target, params] of linksOf(header)) {
    const rel = params.find(([name]) => name === "rel")?.[1] ?? "";
    if (rel.toLowerCase().split(/\s+/).includes("next")) return target;
  }
  return undefined;
}

type Link = readonly [target: string, params: readonly (readonly [name: string, value: string])[]];

function linksOf(header: string): Link[] {
  const links: Link[] = [];
  const text = new Scanner(header);
  while (text.find("<")) {
    const target = text.until(">").trim();
    text.skip(1);
    const params: [string, string][] = [];
    for (text.blank(); text.is(";"); text.blank()) {
      text.skip(1);
      const name = text.until("=;,").trim().toLowerCase();
      if (!text.is("=")) continue;
      text.skip(1);
      text.blank();
      params.push([name, text.is('"') ? text.quoted() : text.until(";,").trim()]);
    }
    links.push([target, params]);
  }
  return links;
}

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  is(char: string): boolean {
    return this.#text[this.#at] === char;
  }

  skip(count: number): void {
    this.#at += count;
  }

  blank(): void {
    while (this.is(" ") || this.is("\t")) this.#at += 1;
  }

  /** Goes behind the next `char`; false: there is none. */
  find(char: string): boolean {
    const found = this.#text.indexOf(char, this.#at);
    this.#at = found === -1 ? this.#text.length : found + 1;
    return found !== -1;
  }

  /** The text before the next of `chars`, or the rest. */
  until(chars: string): string {
    const start = this.#at;
    while (this.#at < this.#text.length && !chars.includes(this.#text[this.#at] as string)) {
      this.#at += 1;
    }
    return this.#text.slice(start, this.#at);
  }

  quoted(): string {
    let value = "";
    for (this.#at += 1; this.#at < this.#text.length; this.#at += 1) {
      if (this.is('"')) break;
      if (this.is("\\")) this.#at += 1;
      value += this.#text[this.#at] ?? "";
    }
    this.#at += 1;
    return value;
  }
}
