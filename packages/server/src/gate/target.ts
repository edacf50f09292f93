/**
 * What a request is aimed at: the target of its first line and its `Host`. Both are read here once, strictly, because
 * everything behind (URL parsers, routers, logs) reads them in its own way.
 */
import { isIPv4 } from "node:net";

/** A target in origin form, taken apart. `path` is as it was sent. */
export interface Target {
  readonly path: string;
  /** Without the question mark; "" when there is none. */
  readonly query: string;
}

/** Characters of RFC 3986 paths but `;`, which some routers cut at, and `%`, which has rules of its own. */
const PLAIN_PATH = /^\/[A-Za-z0-9\-._~!$&'()*+,=:@/]*$/;
const PATH = /^\/(?:[A-Za-z0-9\-._~!$&'()*+,=:@/]|%[0-9A-Fa-f]{2})*$/;
const FORBIDDEN_ESCAPE = /%(?:2f|5c|00)/i;
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;
const QUERY = /^[\x21\x22\x24-\x5b\x5d-\x7e]*$/; // visible ASCII but # and \

/** Reads a target; undefined when it is anything but a plain absolute path with an optional query. */
export function parseTarget(target: string): Target | undefined {
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? "" : target.slice(mark + 1);
  if (!PLAIN_PATH.test(path) && !isEscapedPath(path)) return undefined;
  if (path.includes("//") || (path.length > 1 && path.endsWith("/"))) return undefined;
  if (path.includes("/.") && DOT_SEGMENT.test(path)) return undefined;
  if (!QUERY.test(query)) return undefined;
  return { path, query };
}

function isEscapedPath(path: string): boolean {
  if (!PATH.test(path) || FORBIDDEN_ESCAPE.test(path) || DOT_SEGMENT.test(path)) return false;
  try {
    // Must be UTF-8: routers pass undecodable escapes on as they are, and two spellings of one name are a hole.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    return !/[\x00-\x1f\x7f]/.test(decodeURIComponent(path));
  } catch {
    return false;
  }
}

/** A `Host` value taken apart. `name` is in lower case, without port; IPv6 in brackets. */
export interface HostName {
  readonly name: string;
  /** `name` is an IP address. */
  readonly literal: boolean;
}

const HOST = /^([A-Za-z0-9](?:[A-Za-z0-9._-]{0,253})?|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{1,5}))?$/;

/** Reads a `Host`; undefined when it is empty, has userinfo or blanks, or is no name or address. */
export function parseHost(host: string | undefined): HostName | undefined {
  const match = HOST.exec(host ?? "");
  const name = match?.[1]?.toLowerCase();
  if (name === undefined || Number(match?.[2] ?? 0) > 65_535) return undefined;
  let canonical: string;
  try {
    canonical = new URL(`http://${name}`).hostname;
  } catch {
    return undefined;
  }
  // `127.1`, `0x7f.1` and long spellings of an IPv6 address name another host than they seem to.
  if (canonical !== name) return undefined;
  return { name, literal: name.startsWith("[") || isIPv4(name) };
}

/** `localhost` and every address that only this machine can reach. */
export function isLoopback(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, "");
  return bare === "localhost" || bare === "::1" || (isIPv4(bare) && bare.startsWith("127."));
}

const MAX_PATH = 256;
/** Prefix of the path of a webhook; its token follows. */
const HOOK = /\/hooks\//i;

/** The path of a target without its query, and without the token of a webhook; null for a target that the gate refuses. */
export function loggedPath(target: string): string | null {
  const path = parseTarget(target)?.path;
  if (path === undefined) return null;
  const read = path.includes("%") ? decodeURIComponent(path) : path;
  const hook = HOOK.exec(read);
  if (hook !== null) return `${read.slice(0, hook.index)}/hooks/:token`;
  return path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path;
}
