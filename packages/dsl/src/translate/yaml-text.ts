/** YAML as JSON, by the YAML library of the program: this package has none. */

import type { Json } from "@millrace/contracts";
import type { Span } from "../syntax/ast.ts";
import { Part, type Path, type Problem } from "./part.ts";

/** The required functions of the package `yaml`. */
export interface YamlLibrary {
  parseDocument(
    text: string,
    options: { schema: "core"; logLevel: "error"; intAsBigInt: true },
  ): YamlDocument;
  readonly Lexer: new () => { lex(text: string): Iterable<string> };
}

interface YamlDocument {
  readonly errors: readonly unknown[];
  /** Among them unknown tags: their values are read as plain text. */
  readonly warnings: readonly { readonly message: string }[];
  toJS(): unknown;
  getIn(path: Iterable<unknown>, keepScalar: true): unknown;
}

/** A text in JSON or YAML. */
export interface OtherText {
  readonly data: unknown;
  /** Its comments, in order. */
  readonly comments: readonly string[];
  readonly problems: readonly Problem[];
  /** Where a value stands in the text. */
  placeOf(path: Path): Span | undefined;
}

/** Reads YAML; undefined for invalid text, and for values that JSON does not have. */
export function readYaml(source: string, library: YamlLibrary): OtherText | undefined {
  try {
    const document = library.parseDocument(source, {
      schema: "core",
      logLevel: "error",
      intAsBigInt: true,
    });
    if (document.errors.length > 0) return undefined;
    const problems: Problem[] = document.warnings.map(({ message }) => ({
      path: [],
      message: message.replace(/:?\n[\s\S]*$/, ""),
    }));
    const data = jsonOf(new Part(document.toJS() as Json, [], problems));
    const placeOf = (path: Path): Span | undefined => {
      const { range } = (document.getIn(path, true) ?? {}) as {
        readonly range?: readonly number[];
      };
      const [start, end] = range ?? [];
      return start === undefined || end === undefined ? undefined : { start, end };
    };
    return { data, problems, comments: commentsOf(source, library), placeOf };
  } catch {
    return undefined; // aliases that multiply, and what is no JSON
  }
}

/** Data with its whole numbers as numbers; one that none is the same as, and what JSON has not, is refused. */
function jsonOf(part: Part): Json {
  const data: unknown = part.data;
  if (part.isList) return part.elements.map(jsonOf);
  if (part.isObject) {
    return Object.fromEntries([...part.members].map(([key, inner]) => [key, jsonOf(inner)]));
  }
  if (typeof data === "object" && data !== null) part.refuse("is a value that JSON does not have");
  if (typeof data === "number" && !Number.isFinite(data)) throw new RangeError("no JSON");
  if (typeof data !== "bigint") return part.data;
  if (!Number.isSafeInteger(Number(data))) part.refuse("is a number that cannot be kept exactly");
  return Number(data);
}

/** In front of what a scalar says, in the tokens of the lexer. */
const SCALAR = "\u001f";

function commentsOf(source: string, { Lexer }: YamlLibrary): readonly string[] {
  let before = "";
  return [...new Lexer().lex(source)].flatMap((token) => {
    const isComment = token.startsWith("#") && before !== SCALAR;
    before = token;
    return isComment ? [token.slice(1).trim()] : [];
  });
}
