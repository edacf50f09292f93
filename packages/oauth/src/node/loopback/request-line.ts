/**
 * The request line of a redirect, and the query in it.
 *   R1  `line` holds bytes as Latin-1 characters; only the values of a query become text, as UTF-8.
 *   R2  A parameter that may have lost its end is not there: half a code is no code.
 */

/** One line as it arrived, without its line feed. `cut`: the line feed was not seen. */
export interface ArrivedLine {
  readonly line: string;
  readonly cut: boolean;
}

/** What a request line asks for; `path` and `query` are of a GET, as they were sent. */
export interface RedirectRequest {
  readonly method: string;
  readonly path?: string;
  readonly query: ReadonlyMap<string, string>;
}

const NO_QUERY: ReadonlyMap<string, string> = new Map();
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i; // of a target in absolute form, RFC 9112 section 3.2.2

/**
 * Reads `GET <target> …`: also without the third word, with a target in absolute form, and with a fragment, which goes.
 * Any other line gives its first word and no path.
 */
export function readRequestLine({ line, cut }: ArrivedLine): RedirectRequest {
  const [method = "", target = "", ...rest] = line.replace(/\r$/, "").split(" ");
  if (method !== "GET" || target === "") return { method, query: NO_QUERY };
  const [resource = ""] = target.replace(ORIGIN, "").split("#", 1);
  const mark = resource.indexOf("?");
  const path = (mark < 0 ? resource : resource.slice(0, mark)) || "/";
  if (mark < 0) return { method, path, query: NO_QUERY };
  const parameters = resource.slice(mark + 1).split("&");
  if (cut && rest.length === 0) parameters.pop();
  return { method, path, query: readQuery(parameters) };
}

/** Names are compared as sent; of two parameters of one name the first counts. */
function readQuery(parameters: readonly string[]): ReadonlyMap<string, string> {
  const query = new Map<string, string>();
  for (const parameter of parameters) {
    const equals = parameter.indexOf("=");
    const name = equals < 0 ? parameter : parameter.slice(0, equals);
    if (!query.has(name)) query.set(name, equals < 0 ? "" : decode(parameter.slice(equals + 1)));
  }
  return query;
}

/** `+` is a space and `%XX` a byte; what only looks like one stays as it is. Bytes that are no UTF-8 become U+FFFD. */
function decode(value: string): string {
  const bytes = value.replace(/\+|%([0-9a-f]{2})/gi, (_, hex: string | undefined) =>
    hex === undefined ? " " : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, "latin1").toString("utf8");
}
