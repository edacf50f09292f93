/**
 * The JSON in the answer of a model, whatever stands around it, and what is wrong with it. Time is linear in the text, and nothing is
 * parsed whose nesting has not been counted.
 */
import {
  cutText,
  type Json,
  type JsonSchema,
  MAX_JSON_DEPTH,
  NotJsonError,
  toJsonValue,
} from "@millrace/contracts";
import { schemaProblems } from "@millrace/engine/pack";

/** The value of an answer, or why it has none. */
export type Answer =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problem: AnswerProblem };

/** Deepest nesting of an answer: the output record holds it one level down. */
const MAX_ANSWER_DEPTH = MAX_JSON_DEPTH - 1;

/**
 * Reads the first fenced block that is tagged `json` or not at all; else the whole text if it is JSON; else what lies between
 * the first bracket and its match. Lone surrogates become U+FFFD and keys named `__proto__` go. Never throws.
 */
export function readAnswer(text: string): Answer {
  const trimmed = text.trim();
  if (trimmed === "") return problem("is empty; must be JSON");
  const source = fencedBlock(trimmed) ?? trimmed;
  const whole = parsed(source);
  if (whole.ok || source !== trimmed) return whole;
  const inner = bracketed(source);
  return inner === undefined || inner === source ? whole : parsed(inner);
}

function parsed(source: string): Answer {
  if (isTooDeep(source)) return problem(`must be nested at most ${MAX_ANSWER_DEPTH} levels deep`);
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    return problem("must be JSON");
  }
  if (hasInfinity(value)) return problem("must hold numbers below 1.8e308 only");
  try {
    return { ok: true, value: toJsonValue(value, { maxDepth: MAX_ANSWER_DEPTH }).value };
  } catch (error) {
    if (!NotJsonError.isInstance(error)) throw error;
    return problem(error.message.replace("the output ", ""));
  }
}

function problem(message: string): Answer {
  return { ok: false, problem: answerProblem("", message) };
}

/** The text of the first fence that may hold JSON; without a closing line it goes to the end. */
function fencedBlock(text: string): string | undefined {
  let open: { readonly ticks: number; readonly isJson: boolean; readonly from: number } | undefined;
  for (let at = 0; at <= text.length; ) {
    const end = lineEnd(text, at);
    const fence = fenceAt(text, at, end);
    if (open === undefined) {
      if (fence !== undefined && !fence.info.includes("`")) {
        const tag = fence.info.split(/\s/, 1)[0]?.toLowerCase() ?? "";
        open = { ticks: fence.ticks, isJson: tag === "" || tag === "json", from: end + 1 };
      }
    } else if (fence !== undefined && fence.ticks >= open.ticks && fence.info === "") {
      if (open.isJson) return text.slice(open.from, at).trim();
      open = undefined;
    }
    at = end + 1;
  }
  return open?.isJson ? text.slice(open.from).trim() : undefined;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

/** The fence that a line is: at least three backticks behind at most three blanks. @see CommonMark, 4.5 */
function fenceAt(
  text: string,
  from: number,
  to: number,
): { readonly ticks: number; readonly info: string } | undefined {
  let start = from;
  while (start < from + MAX_INDENT && text[start] === " ") start += 1;
  let end = start;
  while (end < to && text[end] === "`") end += 1;
  if (end - start < 3) return undefined;
  return { ticks: end - start, info: text.slice(end, to).trim() };
}

const MAX_INDENT = 3;

/** From the first `{` or `[` to its match; undefined without one. */
function bracketed(text: string): string | undefined {
  const start = text.search(/[{[]/);
  if (start === -1) return undefined;
  let end: number | undefined;
  scanBrackets(text, start, (depth, at) => {
    if (depth === 0) end = at + 1;
    return depth > 0;
  });
  return end === undefined ? undefined : text.slice(start, end);
}

function isTooDeep(text: string): boolean {
  let isDeep = false;
  scanBrackets(text, 0, (depth) => {
    isDeep = depth > MAX_ANSWER_DEPTH;
    return !isDeep;
  });
  return isDeep;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Tells of every bracket outside of strings, with the depth behind it, until it is told to stop. */
function scanBrackets(
  text: string,
  from: number,
  each: (depth: number, at: number) => boolean,
): void {
  let depth = 0;
  let inString = false;
  for (let at = from; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (inString) {
      if (unit === BACKSLASH) at += 1;
      else if (unit === QUOTE) inString = false;
    } else if (unit === QUOTE) inString = true;
    else if (unit === 0x7b || unit === 0x5b) {
      depth += 1;
      if (!each(depth, at)) return;
    } else if (unit === 0x7d || unit === 0x5d) {
      depth -= 1;
      if (!each(depth, at)) return;
    }
  }
}

/** `1e999` is JSON text for a number that JavaScript has not. The depth is known to be small. */
function hasInfinity(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  if (typeof value !== "object" || value === null) return false;
  for (const inner of Object.values(value)) if (hasInfinity(inner)) return true;
  return false;
}

/** One thing that is wrong with an answer. */
export interface AnswerProblem {
  /** JSON Pointer into the answer; empty for the whole. */
  readonly path: string;
  /** Names the rule, never the value. */
  readonly message: string;
}

/** A model that gets a longer list corrects the first ones and breaks others. */
const MAX_PROBLEMS = 10;
/** Longest path and longest message, in UTF-16 units. */
const MAX_TEXT = 200;

/** Problems of an answer, at most ten; empty when it fits the schema. Never throws. */
export function answerProblems(schema: JsonSchema, answer: unknown): readonly AnswerProblem[] {
  return schemaProblems(schema, answer)
    .slice(0, MAX_PROBLEMS)
    .map(({ pointer, message }) => answerProblem(pointer, message));
}

export function answerProblem(path: string, message: string): AnswerProblem {
  return { path: shortened(path), message: shortened(message.replace(FOUND, "")) };
}

/** The checker also says which type it found, for people; the rule alone is what a log keeps. */
const FOUND = /, found \w+$/;

function shortened(text: string): string {
  return text.length <= MAX_TEXT ? text : `${cutText(text, MAX_TEXT - 1).text}…`;
}
