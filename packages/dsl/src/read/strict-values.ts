/** Members and values of canonical text, as the graph has them. */

import type { Json, JsonObject } from "@millrace/contracts";
import { isMarker } from "../data.ts";
import { type Member, memberByText } from "../language/blocks.ts";
import type { Scanner } from "../syntax/scanner.ts";
import { endsValue, readScalar } from "./strict-scalar.ts";
import {
  enter,
  next,
  popFrom,
  push,
  readDuration,
  readName,
  skipGap,
  take,
  unknown,
} from "./strict-text.ts";

/** `name = value` of these members, or `name: value`: set under its name in the graph. Gives its place among them. */
export function readMember(
  s: Scanner,
  members: readonly Member[],
  into: Record<string, Json>,
  sign = 61,
): number {
  const member = memberByText(members, readName(s));
  if (!member || into[member.key] !== undefined) unknown();
  next(s, sign === 61 ? 1 : 0);
  take(s, sign);
  into[member.key] = readMemberValue(s, member);
  return members.indexOf(member);
}

function readMemberValue(s: Scanner, { kind, members, shape }: Member): Json {
  if (next(s, 1) === 123 && members) return readGroup(s, members);
  if (kind === "duration") {
    const ms = readDuration(s);
    s.height = 0;
    return ms !== undefined && endsValue(s) ? ms : unknown();
  }
  const data = readValue(s, kind !== "value");
  return !shape || shape.is(data) ? data : unknown();
}

/** An object of these members. */
function readGroup(s: Scanner, members: readonly Member[]): JsonObject {
  const group: Record<string, Json> = {};
  const start = s.pos;
  let height = 0;
  let count = 0;
  enter(s);
  s.pos += 1;
  for (; hasElement(s, 125, start, count); count += 1) {
    readMember(s, members, group, 58);
    if (s.height > height) height = s.height;
  }
  leave(s, start, count, height);
  if (members.some(({ key, needed }) => needed && group[key] === undefined)) unknown();
  return endsValue(s) ? group : unknown();
}

/** Sets a member that is not there yet, and that no object seems to have. */
export function setField(
  s: Scanner,
  into: Record<string, Json>,
  name: string,
  sign: number,
  literal: boolean,
): void {
  if (into[name] !== undefined) unknown();
  take(s, sign);
  next(s, 1);
  into[name] = readValue(s, literal);
}

/** A value. `literal`: nothing in it may have to be evaluated. */
export function readValue(s: Scanner, literal: boolean): Json {
  const code = next(s);
  if (code !== 91 && code !== 123) return readScalar(s, literal);
  const data = code === 91 ? readList(s, literal) : readObject(s, literal);
  return endsValue(s) ? data : unknown();
}

function readList(s: Scanner, literal: boolean): Json[] {
  const start = s.pos;
  const mark = s.top;
  let height = 0;
  enter(s);
  s.pos += 1;
  while (hasElement(s, 93, start, s.top - mark)) {
    push(s, readValue(s, literal));
    if (s.height > height) height = s.height;
  }
  leave(s, start, s.top - mark, height);
  return popFrom(s, mark);
}

/** An object; one with a key that means something in the graph is not known. */
export function readObject(s: Scanner, literal: boolean): JsonObject {
  const members: Record<string, Json> = {};
  const start = s.pos;
  let height = 0;
  let count = 0;
  enter(s);
  s.pos += 1;
  for (; hasElement(s, 125, start, count); count += 1) {
    const key = readName(s);
    if (isMarker(key)) unknown();
    next(s);
    setField(s, members, key, 58, literal);
    if (s.height > height) height = s.height;
  }
  leave(s, start, count, height);
  return members;
}

/** Behind a list or object whose highest element is of this height. */
function leave(s: Scanner, start: number, count: number, height: number): void {
  s.depth -= 1;
  s.height = height + 1;
  s.layout?.checkLines(s, start, count);
}

/**
 * Whether another element stands in the list or object that is read; moves to it, or behind the closer. Elements are parted
 * by a comma, perhaps with line ends behind it, or by line ends.
 */
function hasElement(s: Scanner, closer: number, start: number, count: number): boolean {
  if (s.layout) return s.layout.hasElement(s, closer, start, count);
  const isFirst = count === 0;
  const isComma = next(s) === 44;
  const before = s.pos;
  if (isComma && !isFirst) s.pos += 1;
  if (skipGap(s) === closer) {
    s.pos += 1;
    return false;
  }
  return isFirst || s.pos > before || unknown();
}
