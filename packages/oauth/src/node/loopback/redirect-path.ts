/** The path of a redirect URI, in the form in which a browser sends it back. */

/** A browser sends `/a/./b` and `/a/%2e%2e` as another path. */
const DOT_SEGMENT = /^[^?]*\/(?:\.|%2e){1,2}(?:[/?]|$)/i;
const PATH_AND_QUERY = /^\/[\w\-.~!$&'()*+,;=:@/?%]*$/; // RFC 3986 section 3.3 and 3.4; a browser changes the rest

/** Gives the path back, which may have a query. Throws `TypeError` for what is none. */
export function checkRedirectPath(path: string): string {
  if (typeof path === "string" && PATH_AND_QUERY.test(path) && !DOT_SEGMENT.test(path)) return path;
  throw new TypeError(
    'path: must begin with "/" and hold only the characters of a path (RFC 3986), without the segments "." and ".."; percent-encode others',
  );
}
