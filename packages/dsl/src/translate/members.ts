/** Members of parts: taken by name, as fields of a block, and as a list of names. */

import { nameText } from "../syntax/print-expression.ts";
import type { Part } from "./part.ts";

/** Takes members by any of their names, and refuses those that were not taken. */
export class Members {
  readonly #rest: Map<string, Part>;

  constructor(part: Part) {
    this.#rest = new Map(part.members);
  }

  take(...names: readonly string[]): Part | undefined {
    const name = names.find((each) => this.#rest.has(each));
    const part = name === undefined ? undefined : this.#rest.get(name);
    if (name !== undefined) this.#rest.delete(name);
    return part;
  }

  /** Takes the member that says the name under which the whole is known already. */
  named(name: string, ...keys: readonly string[]): void {
    const key = keys.find((each) => this.#rest.get(each)?.text === name);
    if (key !== undefined) this.#rest.delete(key);
  }

  /** Takes a member that is a string. */
  text(...names: readonly string[]): string | undefined {
    const part = this.take(...names);
    const { scalar } = part ?? {};
    if (part === undefined || typeof scalar === "string") return scalar as string | undefined;
    return typeof scalar === "number" ? `${scalar}` : part.refuse("is no text");
  }

  /** Adds the members of a part, which count as those of the whole. */
  lift(part: Part): void {
    if (!part.isObject && part.scalar !== null) part.refuse("is no object");
    for (const [key, value] of part.members) {
      if (this.#rest.has(key)) value.refuse("stands twice in the document");
      this.#rest.set(key, value);
    }
  }

  get rest(): ReadonlyMap<string, Part> {
    return this.#rest;
  }

  refuseRest(): void {
    for (const part of this.#rest.values()) part.refuse("has no counterpart in a flow");
  }
}

/** The lines of a block, in braces; nothing for none. */
export function blockOf(lines: readonly string[]): string {
  return lines.length === 0 ? "" : ` {\n${lines.join("\n")}\n}`;
}

/** Members as fields of a block, without the one that says the name of the whole. */
export function attributes(part: Part, name?: string): string[] {
  if (!part.isObject) part.refuse("is no object");
  const members = new Members(part);
  if (name !== undefined) members.named(name, "name", "id", "key");
  return [...members.rest].map(([key, value]) => `${nameText(key)} = ${value.code}`);
}

/** Elements of a list by their names, or members of an object. */
export function named(
  part: Part | undefined,
  keys: readonly string[] = ["name", "id", "key"],
): (readonly [name: string, part: Part])[] {
  if (part === undefined || part.scalar === null) return [];
  if (part.isObject) return [...part.members];
  if (!part.isList) part.refuse("is neither a list nor an object");
  return part.elements.flatMap((each) => {
    const { members, text } = each;
    const name = text ?? keys.map((key) => members.get(key)?.text).find((it) => it !== undefined);
    if (name !== undefined) return [[name, each] as const];
    each.refuse("has no name");
    return [];
  });
}
