/** Positions in a log, and which kinds of its events a reader wants. */
import type { RunSummary } from "@millrace/contracts";
import { ProblemError } from "../errors.ts";

/** Kinds that pass every filter: without them a reader cannot tell where it is. */
const ALWAYS: ReadonlySet<string> = new Set([
  "run.started",
  "run.cancelling",
  "snapshot",
  "summary",
]);

/** A test for a filtered stream; undefined when everything passes. */
export function acceptsKinds(
  kinds: readonly string[] | undefined,
): ((kind: string) => boolean) | undefined {
  if (kinds === undefined) return undefined;
  const wanted = new Set(kinds);
  return (kind) => wanted.has(kind) || ALWAYS.has(kind);
}

/** Throws `ahead_of_journal` when the run has no such event yet: what the reader knows is of another log. */
export function checkPosition(run: RunSummary, after: number): void {
  if (after > run.lastSeq) {
    throw new ProblemError("ahead_of_journal", { members: { lastSeq: run.lastSeq } });
  }
}
