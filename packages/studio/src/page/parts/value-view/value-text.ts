/** Texts of a value, to show, to copy and to save. */
import type { Json } from "@millrace/contracts";

/** Longest part of a text that is shown at once, in UTF-16 units. */
export const TEXT_STEP = 10_000;
/** Members of an object or a list that are shown at once. */
export const MEMBER_STEP = 100;

/** Longest address that becomes a link, in UTF-16 units. */
const MAX_LINK = 2_000;

/** The beginning of a text: at most `length` units, and no half of a character. */
export function cutAt(text: string, length: number): string {
  if (text.length <= length) return text;
  const code = text.charCodeAt(length - 1);
  const isFirstHalf = code >= 0xd800 && code <= 0xdbff;
  return text.slice(0, isFirstHalf ? length - 1 : length);
}

/** The value as a text to copy or to save: a string as it is, anything else as JSON. */
export function plainText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** The address that a text as a whole is, if a browser may open it; undefined: it is only text. */
export function linkOf(text: string): URL | undefined {
  if (text.length > MAX_LINK || !/^https?:\/\/[^\s<>"{}|\\^`]+$/i.test(text)) return undefined;
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** One step into a value. */
export type Step = string | number;

/** The members of an object or a list, with the step to each. */
export function membersOf(value: Json): readonly (readonly [Step, Json])[] {
  if (typeof value !== "object" || value === null) return [];
  return Array.isArray(value)
    ? value.map((item, at) => [at, item] as const)
    : Object.entries(value).flatMap(([name, item]) =>
        item === undefined ? [] : [[name, item as Json] as const],
      );
}

/** How many values an object or a list holds, in words; undefined for any other value. */
export function sizeOf(value: Json): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const isList = Array.isArray(value);
  const count = isList ? value.length : Object.keys(value).length;
  const word = isList ? "item" : "member";
  return `${count.toLocaleString()} ${word}${count === 1 ? "" : "s"}`;
}

/** The value at a place; undefined: there is none. */
export function valueAt(value: Json, path: readonly Step[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (at, step) =>
      typeof at === "object" && at !== null && Object.hasOwn(at, step)
        ? (at as { readonly [step: Step]: Json })[step]
        : undefined,
    value,
  );
}
