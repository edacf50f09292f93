/**
 * The data channel under `--json`: one JSON value a line, and on every path one `summary` last.
 *   N1  nothing follows the summary.
 *   N2  `finish` writes the one-event summary exactly when no run wrote one.
 * @see specification, "Events"
 */

import {
  type CancelReason,
  createRunId,
  createView,
  type ExecutionEvent,
  exitCodeFor,
  makeSummary,
  ndjson,
  type Summary,
} from "@millrace/contracts";
import type { CliError } from "../errors.ts";
import type { Output } from "./io.ts";
import { createSpool } from "./spool.ts";

/** The lines of `--json`. Writes resolve to false once the reader has left, or a summary was written. */
export interface Ndjson {
  readonly last: ExecutionEvent | undefined;
  readonly summary: Summary | undefined;
  /** Events in order; a page is one write. */
  events(events: readonly ExecutionEvent[]): Promise<boolean>;
  /** A line of a check; it has no `kind`. */
  result(value: object | null): Promise<boolean>;
  /** Resolves when the reader has every line, or has left. */
  drained(): Promise<void>;
}

/** Lines go to `output`, and to nothing else. */
export function createNdjson(output: Output): Ndjson {
  const spool = createSpool(output);
  let summary: Summary | undefined;
  let last: ExecutionEvent | undefined;
  const write = (line: string): Promise<boolean> =>
    summary === undefined ? spool.write(line) : Promise.resolve(false);
  return {
    get last() {
      return last;
    },
    get summary() {
      return summary;
    },
    events(events) {
      const written = write(events.map((event) => ndjson.line(event)).join(""));
      last = events.at(-1) ?? last;
      if (last?.kind === "summary") summary = last;
      return written;
    },
    drained: () => spool.drained(),
    result: (value) => write(`${JSON.stringify(value)}\n`),
  };
}

/**
 * The one-event log of something that was no run: an invalid flow, a wrong word, a check. After events of a run that
 * cannot be followed any further, it is the next one of their log.
 */
export function soleSummary(
  end: CliError | "succeeded",
  now: number,
  options: {
    readonly cancelReason?: CancelReason;
    readonly after?: ExecutionEvent | undefined;
  } = {},
): Summary {
  const { after, cancelReason } = options;
  const ts = Math.max(now, after?.ts ?? 0);
  const runId = after?.runId ?? createRunId(ts, Math.random);
  const payload =
    end === "succeeded"
      ? makeSummary(createView(runId), { status: "succeeded", ts })
      : makeSummary(createView(runId), {
          status: end.status,
          ts,
          error: { code: end.code, message: end.message, retryable: false },
          ...(end.diagnostics === undefined ? {} : { diagnostics: end.diagnostics.slice(0, 100) }),
        });
  const exitCode = exitCodeFor(payload, cancelReason);
  return { v: 1, kind: "summary", runId, seq: (after?.seq ?? 0) + 1, ts, ...payload, exitCode };
}
