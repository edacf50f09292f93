/**
 * Paths of nodes: `pages[3]/get`, `pages~2[3]/get`, `child/fetch`. A segment is an id, then `~a` when the enclosing node
 * is at attempt a >= 2, then `[i]` when it repeats; the last segment is a bare id.
 *   P1  formatPath(parsePath(p)) is p, and a text with two spellings has one that parses.
 * @see the events page, "Path"
 */
import { EventParseError } from "./errors.ts";
import { EVENT_LIMITS } from "./limits.ts";

/** One step of a path. Absent `attempt` is 1; `index` counts from 0 and is absent where nothing repeats. */
export interface PathSegment {
  readonly id: string;
  readonly attempt?: number;
  readonly index?: number;
}

/** The segments of a path. Throws `EventParseError` with code `event_malformed` when it is none. */
export function parsePath(path: string): PathSegment[] {
  if (path.length > EVENT_LIMITS.path) {
    throw malformed(`is longer than ${EVENT_LIMITS.path} characters`);
  }
  const parts = path.split("/");
  if (parts.length > EVENT_LIMITS.pathDepth) {
    throw malformed(`has more than ${EVENT_LIMITS.pathDepth} segments`);
  }
  return parts.map((part, at) => {
    const segment = parseSegment(part);
    if (segment === undefined) throw malformed(`is malformed in segment ${at + 1}`);
    if (at === parts.length - 1 && segment.id !== part) {
      throw malformed("ends in a segment that is no bare id");
    }
    return segment;
  });
}

/** The path of segments. Throws like `parsePath` when they make none. */
export function formatPath(segments: readonly PathSegment[]): string {
  const path = segments
    .map(({ id, attempt, index }) => {
      const again = attempt === undefined || attempt === 1 ? "" : `~${attempt}`;
      return id + again + (index === undefined ? "" : `[${index}]`);
    })
    .join("/");
  parsePath(path);
  return path;
}

/** Whether `path` is one, without making segments of it. */
export function isPath(path: string): boolean {
  if (path.length > EVENT_LIMITS.path) return false;
  let depth = 1;
  let start = 0;
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", start)) {
    if (parseSegment(path.slice(start, at)) === undefined) return false;
    start = at + 1;
    depth += 1;
  }
  return depth <= EVENT_LIMITS.pathDepth && isBareId(path, start);
}

/** The node around a body node, and the attempt of it that the body belongs to; `undefined` for a top-level node. */
export function enclosing(path: string): { node: string; attempt: number } | undefined {
  const slash = path.lastIndexOf("/");
  if (slash < 0) return undefined;
  const start = path.lastIndexOf("/", slash - 1) + 1;
  const segment = parseSegment(path.slice(start, slash));
  if (segment === undefined) return undefined;
  return { node: path.slice(0, start) + segment.id, attempt: segment.attempt ?? 1 };
}

function parseSegment(part: string): PathSegment | undefined {
  let rest = part;
  let index: number | undefined;
  if (rest.endsWith("]")) {
    const open = rest.lastIndexOf("[");
    index = count(rest, open + 1, rest.length - 1);
    if (open < 0 || index === undefined) return undefined;
    rest = rest.slice(0, open);
  }
  let attempt: number | undefined;
  const tilde = rest.indexOf("~");
  if (tilde >= 0) {
    attempt = count(rest, tilde + 1, rest.length);
    if (attempt === undefined || attempt < 2) return undefined;
    rest = rest.slice(0, tilde);
  }
  if (!isBareId(rest, 0)) return undefined;
  return {
    id: rest,
    ...(attempt === undefined ? {} : { attempt }),
    ...(index === undefined ? {} : { index }),
  };
}

function isBareId(text: string, start: number): boolean {
  if (start === text.length) return false;
  for (let i = start; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit === 0x2f || unit === 0x5b || unit === 0x5d || unit === 0x7e) return false; // / [ ] ~
  }
  return true;
}

/** The decimal number between two indices, written without leading zeros. */
function count(text: string, start: number, end: number): number | undefined {
  if (start >= end || end - start > 15) return undefined;
  if (text.charCodeAt(start) === 0x30 && end - start > 1) return undefined;
  let value = 0;
  for (let i = start; i < end; i += 1) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}

function malformed(what: string): EventParseError {
  return new EventParseError("event_malformed", `the node path ${what}`);
}
