/** How a credential goes onto a request: the one place where it does. */
import type { ServiceAuth } from "@millrace/contracts";
import { toBase64 } from "../base64.ts";
import { mustReconnect } from "./refusals.ts";

/** The parts of a request that carry credentials. */
export interface Authorizable {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
}

/** Result of `authorize`: `secretHeaders` must not follow a redirect to another origin. */
export interface Authorized extends Authorizable {
  readonly secretHeaders: readonly string[];
}

/**
 * A request with the credential as the service wants it, over whatever the request had in its place. Throws
 * `credentials_expired` for a credential that no header could carry.
 */
export function authorize(
  request: Authorizable,
  auth: ServiceAuth,
  { credential, connection }: { readonly credential: string; readonly connection: string },
): Authorized {
  if (auth.scheme === "none") return { ...request, secretHeaders: [] };
  const bare =
    auth.scheme === "basic" ? toBase64(new TextEncoder().encode(credential)) : credential;
  if (!/^[\x21-\x7e]+$/.test(bare)) {
    throw mustReconnect("credentials_expired", "the stored credential cannot be sent", connection);
  }
  if (auth.scheme === "oauth2" && auth.tokenHeader !== undefined) {
    return withHeader(request, auth.tokenHeader.toLowerCase(), bare);
  }
  if (auth.scheme !== "apiKey") {
    return withHeader(
      request,
      "authorization",
      `${auth.scheme === "basic" ? "Basic" : "Bearer"} ${bare}`,
    );
  }
  const text = `${auth.prefix ?? ""}${bare}`;
  if (auth.in === "header") return withHeader(request, auth.name.toLowerCase(), text);
  const place = auth.in === "query" ? withQuery : withSegment;
  return { ...request, url: place(request.url, auth.name, text), secretHeaders: [] };
}

function withHeader(request: Authorizable, name: string, value: string): Authorized {
  return { ...request, headers: { ...request.headers, [name]: value }, secretHeaders: [name] };
}

/** Sets one parameter and leaves the spelling of the others. */
function withQuery(href: string, name: string, value: string): string {
  const url = new URL(href);
  const others = url.search
    .slice(1)
    .split("&")
    .filter((pair) => pair !== "" && !new URLSearchParams(pair).has(name));
  url.search = [...others, `${percentEncode(name)}=${percentEncode(value)}`].join("&");
  return url.href;
}

/** Puts a segment before the path. A colon is a character of paths, and stays: a key is redacted as it is written. */
function withSegment(href: string, _name: string, value: string): string {
  const url = new URL(href);
  url.pathname = `/${percentEncode(value).replaceAll("%3A", ":")}${url.pathname}`;
  return url.href;
}

/** Percent-encoding to unreserved bytes (RFC 3986, section 2.3): what comes out means nothing in any part of a URL. */
export function percentEncode(text: string): string {
  // A lone surrogate has no UTF-8; like everywhere else it becomes U+FFFD.
  const whole = text.replace(LONE_SURROGATE, "\ufffd");
  return encodeURIComponent(whole).replace(/[!'()*]/g, (char) => {
    return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
