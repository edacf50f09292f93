/**
 * The URL at which the user is asked.
 *   A1  The seven parameters come first, in the order of the specification, whatever else is asked for.
 *   A2  The query of the caller's URL stays as it is, before them; a fragment stays after them.
 */
import { checkSpelling, extraEntries } from "./options.ts";
import type { AuthorizeParams } from "./types.ts";

/** Characters that encodeURIComponent leaves and the rule encodes, by character code: `! ' ( ) *`. */
const LEFT: Readonly<Record<number, string>> = {
  33: "%21",
  39: "%27",
  40: "%28",
  41: "%29",
  42: "%2A",
};
const LAST_LEFT = 42;
const PERCENT = 37;

const OURS: ReadonlySet<string> = new Set([
  "response_type",
  "client_id",
  "redirect_uri",
  "scope",
  "state",
  "access_type",
  "prompt",
  "code_challenge",
  "code_challenge_method",
  "resource",
]);

/**
 * The authorize URL with `response_type`, `client_id`, `redirect_uri`, `scope`, `state`, `access_type=offline` and
 * `prompt=consent`, then PKCE, resources and extra parameters where given. Empty values keep their parameter.
 * Throws `TypeError` when `extraParams` names a parameter of ours, and for another spelling of an option.
 * @see specification, "Build authorize URL"
 */
export function buildAuthorizeUrl(params: AuthorizeParams): string {
  checkSpelling(params);
  const { authorizeUrl, pkce, resource = [] } = params;
  const pairs: [string, string][] = [
    ["response_type", "code"],
    ["client_id", params.clientId],
    ["redirect_uri", params.redirectUri],
    ["scope", params.scopes.join(" ")],
    ["state", params.state],
    ["access_type", "offline"],
    ["prompt", "consent"],
  ];
  if (pkce) {
    pairs.push(["code_challenge", pkce.challenge], ["code_challenge_method", "S256"]);
  }
  for (const uri of resource) pairs.push(["resource", uri]);
  pairs.push(...extraEntries(params.extraParams, OURS));

  const query = pairs.map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`);
  const hash = authorizeUrl.indexOf("#");
  const base = hash < 0 ? authorizeUrl : authorizeUrl.slice(0, hash);
  const fragment = hash < 0 ? "" : authorizeUrl.slice(hash);
  return `${base}${base.includes("?") ? "&" : "?"}${query.join("&")}${fragment}`;
}

/**
 * `s` as UTF-8 in which every byte but `A–Z a–z 0–9 - _ . ~` is `%` and two uppercase hexadecimal digits; a space is
 * `%20`. Half a surrogate pair becomes U+FFFD.
 * @see specification, "Build authorize URL"
 */
export function percentEncode(s: string): string {
  const encoded = encodeWellFormed(s);
  // By hand: `replace` with a function takes several times as long.
  let result = "";
  let from = 0;
  for (let at = 0; at < encoded.length; at++) {
    const code = encoded.charCodeAt(at);
    if (code > LAST_LEFT || code === PERCENT) continue;
    result += encoded.slice(from, at) + LEFT[code];
    from = at + 1;
  }
  return from === 0 ? encoded : result + encoded.slice(from);
}

function encodeWellFormed(s: string): string {
  try {
    return encodeURIComponent(s);
  } catch {
    return encodeURIComponent(s.replace(/\p{Surrogate}/gu, "\uFFFD"));
  }
}
