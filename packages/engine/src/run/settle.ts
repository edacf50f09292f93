/** What a body has answered or thrown: a result that fits its type, or a failure. */
import { isNodeExit, type Json } from "@millrace/contracts";
import { failureOf, timeoutFailure, toFailure } from "../failures.ts";
import { EXTENSION_BYTES } from "../limits.ts";
import type { Failure, NodeType } from "../node-type.ts";
import { schemaProblems } from "../schema-check.ts";
import { sizeOf, toOutput } from "../values.ts";
import { wakeToEnd } from "./confirmations.ts";
import { emitLog } from "./emit.ts";
import { failed, succeed } from "./end.ts";
import { scopeOf } from "./scope.ts";
import type { Attempt, Result } from "./state.ts";
import { thrownBy } from "./thrown.ts";

/** The body has answered `raw`: a record, or an exit. */
export function bodyReturned(attempt: Attempt, raw: unknown): void {
  if (attempt.over) return;
  wakeToEnd(attempt);
  if (attempt.stopping === "timeout") {
    failed(attempt, timeoutFailure(attempt.policy.timeoutMs));
    return;
  }
  const { run } = attempt;
  const result: Result = { port: "out", output: null, bytes: 0, cached: false, ref: null };
  try {
    let value = raw;
    if (isNodeExit(raw)) {
      result.port = raw.port;
      value = raw.output;
    }
    result.output = toOutput(value, ({ code, pointer, message }) => {
      const text = `output${pointer}: ${message}`;
      emitLog(run, { level: "warn", channel: "engine", text, code }, attempt);
    });
    result.bytes = sizeOf(result.output);
  } catch (error) {
    failed(attempt, thrownBy(attempt, error));
    return;
  }
  const failure = outputProblem(attempt, result) ?? retryCondition(attempt, result.output);
  if (failure !== null) failed(attempt, failure);
  else succeed(attempt, result);
}

function outputProblem(attempt: Attempt, { port, output, bytes }: Result): Failure | null {
  const { limits } = attempt.run;
  const isExtension = attempt.type.grants !== undefined;
  const most = isExtension ? Math.min(limits.outputBytes, EXTENSION_BYTES) : limits.outputBytes;
  if (bytes > most) {
    const text = `the output has ${bytes} bytes, limit outputBytes is ${most}`;
    return failureOf("output_too_large", text, { reason: "limit" });
  }
  if (attempt.type.core === true) return null;
  if (!declares(attempt, port)) {
    const text = `the type ${attempt.type.entry.type} has no port "${port.slice(0, 64)}"`;
    return failureOf("output_schema", text, { reason: "output" });
  }
  const problem = schemaProblem(attempt.type, output);
  return problem === null ? null : failureOf("output_schema", problem, { reason: "output" });
}

function schemaProblem(type: NodeType, output: Json): string | null {
  if (type.outputProblem !== undefined) return type.outputProblem(output);
  const problem = schemaProblems(type.entry.output, output)[0];
  return problem === undefined ? null : `output${problem.pointer} ${problem.message}`;
}

function declares(attempt: Attempt, port: string): boolean {
  const { ports, portsFrom } = attempt.type.entry;
  if (ports.length === 0 ? port === "out" : ports.some(({ name }) => name === port)) return true;
  return portsFrom !== undefined && port !== "error";
}

function retryCondition(attempt: Attempt, output: Json): Failure | null {
  const { retryIf } = attempt.policy;
  if (retryIf === null) return null;
  const scope = scopeOf(attempt.run, attempt.frame);
  try {
    const extended = {
      reading: retryIf,
      get(root: string) {
        if (root === "output") return output;
        scope.reading = retryIf;
        return scope.get(root);
      },
    };
    if (retryIf.evaluate(extended, attempt.startedAt) !== true) return null;
  } catch (error) {
    return toFailure(error);
  }
  return failureOf("retry_condition", "the result asks for another try (@retry if)", {
    reason: "output",
    retryable: true,
  });
}

/** The body threw, or its promise was rejected. */
export function bodyThrew(attempt: Attempt, error: unknown): void {
  if (attempt.over) return;
  wakeToEnd(attempt);
  if (attempt.stopping === "timeout") failed(attempt, timeoutFailure(attempt.policy.timeoutMs));
  else failed(attempt, thrownBy(attempt, error));
}
