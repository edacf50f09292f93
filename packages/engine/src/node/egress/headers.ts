/** Headers that a request may have. */
import type { IncomingMessage } from "node:http";
import { refused } from "./refusal.ts";

const MAX_HEADERS = 64; // far more than any API asks for
const MAX_HEADER_BYTES = 16_384; // servers refuse more

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/; // RFC 9110, 5.6.2, in lower case
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/; // RFC 9110, 5.5: no CR, LF, NUL

/** Headers that decide about the connection or speak for a proxy or a browser. */
const REFUSED =
  /^(?:host|content-length|transfer-encoding|connection|upgrade|expect|te|trailer|keep-alive|proxy-.*|sec-.*)$/;

/** Names in lower case. Throws `egress_denied` rule `header`; a value is never in the message. */
export function checkHeaders(headers: { readonly [name: string]: string } = {}): {
  [name: string]: string;
} {
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) throw refused("header", `more than ${MAX_HEADERS} headers`);
  const checked: { [name: string]: string } = {};
  let bytes = 0;
  for (const [written, value] of entries) {
    const name = written.toLowerCase();
    const shown = JSON.stringify(written.slice(0, 60));
    if (!TOKEN.test(name)) throw refused("header", `${shown} is not a header name`);
    if (REFUSED.test(name)) throw refused("header", `${shown} is set by the client alone`);
    if (!VALUE.test(value)) throw refused("header", `the value of ${shown} is not a header value`);
    bytes += name.length + value.length;
    checked[name] = value;
  }
  if (bytes > MAX_HEADER_BYTES) {
    throw refused("header", `more than ${MAX_HEADER_BYTES} bytes of headers`);
  }
  return checked;
}

/** The headers of an answer; several of one name are joined as `fetch` does. */
export function headersOf(message: IncomingMessage): Headers {
  const headers = new Headers();
  const raw = message.rawHeaders;
  for (let i = 0; i + 1 < raw.length; i += 2)
    headers.append(raw[i] as string, raw[i + 1] as string);
  return headers;
}
