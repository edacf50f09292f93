/**
 * The one value that a form and its JSON text hold.
 *   V1  What was typed and cannot be read is part of the value as `UnreadText`, so that nothing else is sent in its place.
 *   V2  Reading the text of a value gives the value.
 */
import type { Json, JsonObject } from "@millrace/contracts";
import { pointerSegment } from "@millrace/contracts/kit";

/** A text that was typed in place of JSON and is not JSON. */
export class UnreadText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** In a text of JSON it stands as it was typed. */
  toJSON(): string {
    return this.text;
  }
}

/** A text that could not be read, in the place of a value. */
export function unread(text: string): Json {
  return new UnreadText(text) as unknown as Json;
}

/** Whether a value is a text that could not be read. */
export function isUnread(value: unknown): value is UnreadText {
  return value instanceof UnreadText;
}

/** Whether something in a value could not be read. */
export function hasUnread(value: Json | undefined): boolean {
  return unreadPlaces(value).length > 0;
}

/** Pointers of the texts in a value that could not be read. */
export function unreadPlaces(value: Json | undefined, pointer: string = ""): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  if (isUnread(value)) return [pointer];
  return Object.entries(value).flatMap(([key, inner]) =>
    unreadPlaces(inner as Json | undefined, pointer + pointerSegment(key)),
  );
}

/** The JSON text of a value as a person reads and changes it; "" where there is none. */
export function jsonText(value: Json | undefined): string {
  if (isUnread(value)) return value.text;
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}

/** The value of a JSON text; undefined for a text of blanks. */
export function readJson(text: string): Json | undefined {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return unread(text);
  }
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** The text of a field for numbers. */
export function numberText(value: Json | undefined): string {
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}

/** The number that a text writes as JSON does; else the text itself, which no rule for a number takes. Undefined: no text. */
export function readNumber(text: string): number | string | undefined {
  const typed = text.trim();
  if (typed === "") return undefined;
  const value = Number(typed);
  if (!NUMBER.test(typed) || !Number.isFinite(value)) return text;
  // A whole number that would be rounded is not what was typed.
  return /^-?\d+$/.test(typed) && !Number.isSafeInteger(value) && BigInt(typed) !== BigInt(value)
    ? text
    : value;
}

/** An object with a member set, or without it where `value` is undefined. No name is special, `__proto__` included. */
export function withMember(object: JsonObject, name: string, value: Json | undefined): JsonObject {
  const members = new Map(Object.entries(object));
  if (value === undefined) members.delete(name);
  else members.set(name, value);
  return Object.fromEntries(members);
}

/** Own member of an object. */
export function memberOf(value: Json | undefined, name: string): Json | undefined {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as JsonObject)[name]
    : undefined;
}

/** A list with the item at `from` moved to `to`. */
export function moved<T>(list: readonly T[], from: number, to: number): readonly T[] {
  const next = [...list];
  next.splice(to, 0, ...next.splice(from, 1));
  return next;
}
