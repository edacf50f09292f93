/** Answers of models against their schema: the project's one checker, with problems cut to what an event and a repair carry. */
import type { JsonSchema } from "@millrace/contracts";
import { cutText } from "@millrace/contracts";
import { schemaProblems } from "@millrace/engine/pack";

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

/** What is wrong with an answer, at most ten problems; none: it fits. Never throws. */
export function answerProblems(schema: JsonSchema, answer: unknown): readonly AnswerProblem[] {
  return schemaProblems(schema, answer)
    .slice(0, MAX_PROBLEMS)
    .map(({ pointer, message }) => answerProblem(pointer, message));
}

/** A problem within its limits. */
export function answerProblem(path: string, message: string): AnswerProblem {
  return { path: shortened(path), message: shortened(message.replace(FOUND, "")) };
}

/** The checker also says which type it found, for people; the rule alone is what a log keeps. */
const FOUND = /, found \w+$/;

function shortened(text: string): string {
  return text.length <= MAX_TEXT ? text : `${cutText(text, MAX_TEXT - 1).text}…`;
}
