/** Answers of tools: a value, or a failure with its code, message and hint. */
import { ClientError } from "@millrace/client";
import type { ExecutionEvent, JsonObject, Problem, ProblemDocument } from "@millrace/contracts";
import type { CallToolResult } from "@modelcontextprotocol/server";

/** Key of the run's id in the metadata of an answer. */
const RUN_META = "dev.millrace/run";
/** Longest text of an answer, or of a resource; a whole value is in `structuredContent`, or in the run. */
export const MAX_TEXT = 262_144;

export interface ToolFailure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  /** One line for each thing that is wrong. */
  readonly problems?: readonly string[];
  readonly runId?: string;
}

/** A value; its text is JSON unless `text` says it better. */
export function answer(
  value: JsonObject,
  {
    text = JSON.stringify(value, null, 2),
    runId,
  }: { readonly text?: string; readonly runId?: string } = {},
): CallToolResult {
  return {
    content: [{ type: "text", text: cut(text) }],
    structuredContent: value,
    ...(runId !== undefined && { _meta: { [RUN_META]: runId } }),
  };
}

/** A failure: an answer that the model reads, no error of the protocol. */
export function failure({
  code,
  message,
  hint,
  problems = [],
  runId,
}: ToolFailure): CallToolResult {
  const lines = [
    `${code}: ${message}`,
    ...problems.map((each) => `- ${each}`),
    ...(runId === undefined ? [] : [`run: ${runId}`]),
    ...(hint === undefined ? [] : [`hint: ${hint}`]),
  ];
  return {
    isError: true,
    content: [{ type: "text", text: cut(lines.join("\n")) }],
    ...(runId !== undefined && { _meta: { [RUN_META]: runId } }),
  };
}

/** The failure that a refused command is. Throws what is no refusal. */
export function refused(error: unknown): CallToolResult {
  if (!ClientError.isInstance(error)) throw error;
  const { code, message, problem, retryAfterMs, retryable } = error;
  const { title, detail, errors = [] } = (problem ?? {}) as Partial<ProblemDocument>;
  const waits = retryAfterMs === undefined ? "" : ` in ${Math.ceil(retryAfterMs / 1_000)} s`;
  return failure({
    code,
    message: detail ?? title ?? message,
    problems: errors.map(problemLine),
    hint: retryable ? `call again${waits}` : HINTS[code],
  });
}

/** A finding in a text has its code and line, anything else its place. */
function problemLine({ pointer, code, message, line }: Problem): string {
  if (!/^FLOW\d/.test(code)) return pointer === "" ? message : `${pointer}: ${message}`;
  return `${line === undefined ? "" : `line ${line}: `}${code} ${message}`;
}

const HINTS: { readonly [code: string]: string } = {
  forbidden: "whoever is connected here may only read",
  flow_invalid: "validate_flow shows where; explain_diagnostic says what a code means",
  input_invalid: "the input schema of the tool says what it takes",
};

/** The answer of a run that has ended. */
export function ended(
  summary: Extract<ExecutionEvent, { kind: "summary" }>,
  outputs: JsonObject,
): CallToolResult {
  const { status, error, runId } = summary;
  if (status === "succeeded") return answer(outputs, { runId });
  const { code = status, message = `the run was ${status}`, node, retryable } = error ?? {};
  return failure({
    code,
    message: node === undefined ? message : `${message} (node ${node})`,
    runId,
    hint:
      retryable === true
        ? "it may pass: call again"
        : `read millrace://runs/${runId}/events to see what happened`,
  });
}

/** The text, up to that length; `mark`: what follows the beginning of a longer one. */
export function cut(text: string, mark = "… (cut)"): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}${mark}`;
}
