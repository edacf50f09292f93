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

/** The segments of a path. Throws `EventParseError` with code `event_malformed` for an invalid one. */
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
      if (idEnd(id, 0) !== id.length) throw malformed("has an id with one of / [ ] ~");
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
    if (!isSegment(path, start, at)) return false;
    start = at + 1;
    depth += 1;
  }
  return (
    depth <= EVENT_LIMITS.pathDepth && start < path.length && idEnd(path, start) === path.length
  );
}

/** The path of the node around a body node; `undefined` for a top-level node. The path must be legal. */
export function enclosingNode(path: string): string | undefined {
  const slash = path.lastIndexOf("/");
  if (slash < 0) return undefined;
  const start = path.lastIndexOf("/", slash - 1) + 1;
  return path.slice(0, idEnd(path, start));
}

/** The attempt of the enclosing node that a body node belongs to; 1 for a top-level node. The path must be legal. */
export function enclosingAttempt(path: string): number {
  const slash = path.lastIndexOf("/");
  const at = idEnd(path, path.lastIndexOf("/", slash - 1) + 1);
  return path[at] === "~" ? Number.parseInt(path.slice(at + 1), 10) : 1;
}

/** Where the id that begins at `start` ends. */
function idEnd(path: string, start: number): number {
  let at = start;
  for (; at < path.length; at += 1) {
    const unit = path.charCodeAt(at);
    if (unit === SLASH || unit === OPEN || unit === CLOSE || unit === TILDE) break;
  }
  return at;
}

const [SLASH, OPEN, CLOSE, TILDE, ZERO] = [0x2f, 0x5b, 0x5d, 0x7e, 0x30];

/** Whether the stretch is an id, `~a` with a >= 2 or nothing, `[i]` or nothing. */
function isSegment(path: string, start: number, end: number): boolean {
  let at = idEnd(path, start);
  if (at === start) return false;
  if (path.charCodeAt(at) === TILDE) {
    const first = at + 1;
    at = numberEnd(path, first);
    const isSmall = at - first === 1 && path.charCodeAt(first) < ZERO + 2;
    if (at === first || isSmall) return false;
  }
  if (path.charCodeAt(at) === OPEN) {
    const first = at + 1;
    at = numberEnd(path, first);
    if (at === first || path.charCodeAt(at) !== CLOSE) return false;
    at += 1;
  }
  return at === end;
}

/** Where the decimal number that begins at `start` ends; `start` itself when there is none, or one with a leading zero. */
function numberEnd(path: string, start: number): number {
  let at = start;
  while (
    at - start < MAX_DIGITS &&
    path.charCodeAt(at) - ZERO >= 0 &&
    path.charCodeAt(at) - ZERO <= 9
  ) {
    at += 1;
  }
  return at - start > 1 && path.charCodeAt(start) === ZERO ? start : at;
}

const MAX_DIGITS = 15; // so that every number is a safe integer

function parseSegment(part: string): PathSegment | undefined {
  if (!isSegment(part, 0, part.length)) return undefined;
  const end = idEnd(part, 0);
  const open = part.indexOf("[", end);
  const attempt = part[end] === "~" ? Number.parseInt(part.slice(end + 1), 10) : undefined;
  return {
    id: part.slice(0, end),
    ...(attempt === undefined ? {} : { attempt }),
    ...(open < 0 ? {} : { index: Number.parseInt(part.slice(open + 1), 10) }),
  };
}

function malformed(what: string): EventParseError {
  return new EventParseError("event_malformed", `the node path ${what}`);
}
