/** Members of a document of strangers, whose every value may be of any kind. */

import { cutText } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";

/** An object of a document. */
export interface Unknown {
  readonly [name: string]: unknown;
}

/** The members of an object; none for anything else. */
export function membersOf(value: unknown): [name: string, value: unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** One line of at most `max` units without control characters; `undefined` when nothing is left. */
export function textOf(value: unknown, max: number): string | undefined {
  if (typeof value !== "string") return undefined;
  const line = value
    .slice(0, max * 4)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const cut = line.length > max ? `${cutText(line, max - 1).text}…` : line;
  return cut === "" ? undefined : cut;
}
