/** A document part by part: what each says, where it stands, and which parts are not understood. */

import type { Json, JsonObject } from "@millrace/contracts";
import { isObject, type Marker, markerOf, own } from "../data.ts";
import type { Expression } from "../syntax/ast.ts";
import { parseExpression } from "../syntax/parse-expression.ts";
import { printExpression, quoteText } from "../syntax/print-expression.ts";
import { behindBrackets } from "../syntax/skip.ts";

/** Keys and positions from the outermost value inwards. */
export type Path = readonly (string | number)[];

/** A part that has no counterpart in a flow. */
export interface Problem {
  readonly path: Path;
  readonly message: string;
}

/** A value of the document. */
export class Part {
  readonly data: Json;
  readonly path: Path;
  readonly #problems: Problem[];

  constructor(data: Json, path: Path, problems: Problem[]) {
    this.data = data;
    this.path = path;
    this.#problems = problems;
  }

  /** Says that this is not understood. */
  refuse(message: string): undefined {
    const { path } = this;
    this.#problems.push({ path, message: `${pathText(path)} ${message}` });
    return undefined;
  }

  get isObject(): boolean {
    return isObject(this.data);
  }

  get isList(): boolean {
    return Array.isArray(this.data);
  }

  get elements(): readonly Part[] {
    const { data } = this;
    return Array.isArray(data) ? data.map((each, at) => this.#inner(each as Json, at)) : [];
  }

  get members(): ReadonlyMap<string, Part> {
    const { data } = this;
    const names = isObject(data) ? Object.keys(data) : [];
    return new Map(names.map((name) => [name, this.#inner(own(data, name) as Json, name)]));
  }

  /** A string, number or word; undefined for all others. */
  get scalar(): string | number | boolean | null | undefined {
    const { data } = this;
    return typeof data === "object" && data !== null ? undefined : data;
  }

  /** The string; undefined for all others. */
  get text(): string | undefined {
    return typeof this.data === "string" ? this.data : undefined;
  }

  /** The value as the text of a flow has it: a string that is one hole is the expression in it. */
  get code(): string {
    const { data } = this;
    const marker = isObject(data) ? markerOf(data) : undefined;
    if (marker !== undefined) {
      const source = markedSource(data as JsonObject, marker);
      if (source === undefined) this.refuse(`is no value of a graph under \`${marker}\``);
      return source === undefined ? "null" : this.#checked(source, false);
    }
    if (isObject(data)) {
      const entries = [...this.members].map(([key, part]) => `${quoteText(key)}: ${part.code}`);
      return `{ ${entries.join(", ")} }`;
    }
    if (this.isList) return `[${this.elements.map((part) => part.code).join(", ")}]`;
    if (typeof data === "string") return this.#checked(sourceOf(data), true);
    if (Number.isInteger(data) && !Number.isSafeInteger(data))
      this.refuse("is a number that cannot be kept exactly");
    return JSON.stringify(data);
  }

  /** A source as it is printed; `opens`: without the quotes around what is one hole and nothing else. */
  #checked(source: string, opens: boolean): string {
    const { ast, diagnostics } = parseExpression(source);
    const error = diagnostics.find(({ severity }) => severity === "error");
    if (ast === undefined) this.refuse(`is no text of a flow: ${error?.message ?? "no value"}`);
    return ast === undefined ? "null" : printExpression(opens ? alone(ast) : ast);
  }

  #inner(data: Json, key: string | number): Part {
    return new Part(data, [...this.path, key], this.#problems);
  }
}

/** The expression of a template that is one hole. */
function alone(e: Expression): Expression {
  const [only] = e.kind === "template" ? e.parts : [];
  const isAlone = e.kind === "template" && e.parts.length === 1;
  return isAlone && only !== undefined && typeof only !== "string" ? only : e;
}

/** A path as programs write it: `nodes[2].fields`. */
function pathText(path: Path): string {
  const parts = path.map((key) =>
    typeof key === "number" ? `[${key}]` : /^[\w-]+$/.test(key) ? `.${key}` : `[${quoteText(key)}]`,
  );
  return parts.join("").replace(/^\./, "") || "the document";
}

/** `{{ expression }}` and nothing else, as other tools write an expression. */
const WHOLE_HOLE = /^=?\{\{([^{}]+)\}\}$/;
/** A string as a flow writes it: its holes as they are, all else escaped. */
function sourceOf(text: string): string {
  const [, whole = ""] = WHOLE_HOLE.exec(text) ?? [];
  if (parseExpression(whole.trim()).ast !== undefined) return whole.trim();
  let source = "";
  let from = 0;
  for (let at = text.indexOf("${"); at !== -1; at = text.indexOf("${", from)) {
    const end = behindBrackets(text, at + 1);
    source += escaped(text.slice(from, at)) + text.slice(at, end);
    from = end;
  }
  return `"${source}${escaped(text.slice(from))}"`;
}

const escaped = (text: string): string => quoteText(text).slice(1, -1);

/** The source of `{ "$": source }` and `{ "$t": [part, …] }`, as a graph writes expressions and templates; undefined for what is neither. */
function markedSource(data: JsonObject, marker: Marker): string | undefined {
  const value = own(data, marker);
  if (marker === "$" && typeof value === "string") return value;
  if (marker !== "$t" || !Array.isArray(value)) return undefined;
  const parts = value.map((part) => {
    if (typeof part === "string") return escaped(part);
    const source = isObject(part) && markerOf(part) === "$" ? own(part, "$") : undefined;
    return typeof source === "string" ? `\${${source}}` : undefined;
  });
  return parts.includes(undefined) ? undefined : `"${parts.join("")}"`;
}
