/** The strings, numbers, words, calls and comments of a text: as the parser reads them, and as the grammar colours them. */
import type { FlowBody, FlowGraph } from "@millrace/contracts";
import { type Expression, listFunctions, locate, parseExpression, parseFlow } from "@millrace/dsl";
import { commentsIn } from "../laws/layout.ts";
import { type Token, tokenize } from "./tokenize.ts";

/** Sorted lists of `offset text`; `comments` are texts only. */
export interface Spans {
  readonly strings: readonly string[];
  readonly numbers: readonly string[];
  readonly words: readonly string[];
  readonly calls: readonly string[];
  readonly comments: readonly string[];
}

const FUNCTIONS = new Set(listFunctions().map(({ name }) => name));

type Kind = "strings" | "numbers" | "words" | "calls";

class Found {
  readonly strings = new Set<string>();
  readonly numbers = new Set<string>();
  readonly words = new Set<string>();
  readonly calls = new Set<string>();
  private readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  add(kind: Kind, start: number, end: number): void {
    this[kind].add(`${start} ${this.source.slice(start, end)}`);
  }

  spans(comments: readonly string[]): Spans {
    const { strings, numbers, words, calls } = this;
    const sorted = (set: Set<string>): string[] => [...set].sort();
    return {
      strings: sorted(strings),
      numbers: sorted(numbers),
      words: sorted(words),
      calls: sorted(calls),
      comments: [...comments].sort(),
    };
  }
}

/** What the parser reads in a canonical text, with or without decoration. */
export function parsedSpans(source: string): Spans {
  const { graph, document } = parseFlow(source);
  const found = new Found(source);
  for (const pointer of valuePointers(graph)) {
    const range = locate(document, pointer);
    if (!range) continue;
    const { start, end } = { start: range.start.offset, end: range.end.offset };
    const isValue = source[start] !== ":" && /(?:=|->.*)$/.test(lineBefore(source, start));
    const ast = isValue ? parseExpression(source.slice(start, end)).ast : undefined;
    if (ast) collect(found, ast, start);
  }
  return found.spans(commentsIn(source));
}

function lineBefore(source: string, at: number): string {
  return source.slice(source.lastIndexOf("\n", at - 1) + 1, at).trimEnd();
}

/** Pointers to every place of a graph that a value of the text can give. */
function valuePointers(graph: FlowGraph): string[] {
  const lists = ["inputs", "outputs", "connections", "schedules"] as const;
  return [
    "/title",
    ...["meta", "policy", "layout"].flatMap((key) => members(graph, key, "")),
    ...lists.flatMap((key) => (graph[key] ?? []).flatMap((item, i) => own(item, `/${key}/${i}`))),
    ...bodyPointers(graph, ""),
  ];
}

function bodyPointers(body: FlowBody, at: string): string[] {
  return [
    `${at}/output`,
    ...body.edges.map((_, index) => `${at}/edges/${index}/meta`),
    ...body.nodes.flatMap((node, index) => {
      const place = `${at}/nodes/${index}`;
      return [
        ...members(node, "fields", place),
        ...members(node, "policy", place),
        ...(node.body ? bodyPointers(node.body, `${place}/body`) : []),
      ];
    }),
  ];
}

function members(owner: object, key: string, at: string): string[] {
  const value: unknown = Reflect.get(owner, key);
  return typeof value === "object" && value !== null ? own(value, `${at}/${key}`) : [];
}

function own(value: object, at: string): string[] {
  return Object.keys(value).map(
    (key) => `${at}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`,
  );
}

function collect(found: Found, e: Expression, from: number): void {
  const start = from + e.start;
  const end = from + e.end;
  if (e.kind === "duration") found.add("numbers", start, end);
  else if (e.kind === "template") found.add("strings", start, end);
  else if (e.kind === "call" && FUNCTIONS.has(e.name)) {
    found.add("calls", start, start + e.name.length);
  } else if (e.kind === "literal") {
    const { value } = e;
    const kind = typeof value === "string" ? "strings" : undefined;
    found.add(kind ?? (typeof value === "number" ? "numbers" : "words"), start, end);
  }
  for (const child of childrenOf(e)) collect(found, child, from);
}

function childrenOf(e: Expression): readonly Expression[] {
  switch (e.kind) {
    case "template":
      return e.parts.filter((part) => typeof part !== "string");
    case "list":
      return e.elements;
    case "object":
      return e.entries.map(({ value }) => value);
    case "member":
      return [e.object];
    case "index":
      return [e.object, e.index];
    case "call":
      return e.args;
    case "unary":
      return [e.operand];
    case "binary":
      return [e.left, e.right];
    case "conditional":
      return [e.test, e.then, e.otherwise];
    default:
      return [];
  }
}

/** What the grammar colours. */
export function colouredSpans(source: string): Spans {
  const found = new Found(source);
  const comments: string[] = [];
  const opened: number[] = [];
  for (const token of merged(tokenize(source).tokens)) {
    const { start, end, scopes } = token;
    const innermost = scopes.at(-1) ?? "";
    if (innermost === "punctuation.definition.string.begin") opened.push(start);
    else if (innermost === "punctuation.definition.string.end") {
      found.add("strings", opened.pop() ?? -1, end);
    } else if (isNumber(token)) found.add("numbers", start, end);
    else if (innermost === "constant.language") found.add("words", start, end);
    else if (innermost.startsWith("support.function")) found.add("calls", start, end);
    else if (innermost === "punctuation.definition.comment") comments.push("");
    else if (innermost.startsWith("comment.line")) comments.splice(-1, 1, token.text.trimEnd());
  }
  return found.spans(comments);
}

function isNumber({ scopes }: Token): boolean {
  return scopes.some((scope) => /^constant\.numeric(?:\.duration)?$/.test(scope));
}

/** A number and its unit are one. */
function merged(tokens: readonly Token[]): readonly Token[] {
  const result: Token[] = [];
  for (const token of tokens) {
    const last = result.at(-1);
    if (last && isNumber(last) && isNumber(token) && last.end === token.start) {
      result.splice(-1, 1, { ...last, end: token.end, text: last.text + token.text });
    } else result.push(token);
  }
  return result;
}
