/** `millrace runs`: what has run and what runs, and what can be done about it. `show` and `tail` draw; they are next door. */

import type { RunState } from "@millrace/contracts";
import {
  apiCommand,
  durationOf,
  type Given,
  given,
  listed,
  pageOf,
  pairsOf,
  type Run,
  valuesOf,
} from "../api/command.ts";
import { flowOf, runIdOf } from "../api/runs.ts";
import { flagText } from "../argv/spec.ts";
import { formatDuration, parseDuration } from "../argv/values.ts";
import { usage } from "../errors.ts";
import { clean, formatTime } from "../output/text.ts";
import { settle, started } from "../run/follow-to-end.ts";

/** Runs, newest first. */
export const list: Run = apiCommand({
  command: "list_runs",
  args: ({ input }) => ({
    ...pageOf(input),
    ...given({
      status: valuesOf(input, "status") as readonly RunState[] | undefined,
      template: flagText(input, "template"),
      tags: pairsOf(input, "tag"),
    }),
  }),
  show: (page, all) =>
    listed(page, all, {
      headings: ["RUN", "STATUS", "FLOW", "STARTED BY", "CREATED", "TOOK", ""],
      row: (run) => [
        run.runId,
        run.status,
        flowOf(run),
        run.trigger,
        formatTime(run.createdAt),
        run.summary === null ? "-" : formatDuration(run.summary.durationMs),
        run.summary?.error?.code ?? "",
      ],
      none: "no such run; a run is kept on a server, or with millrace run --save",
    }),
});

/** The run that the first argument names. */
function runOf({ input, api }: Given): Promise<string> {
  return runIdOf(input.args[0] ?? "", api);
}

/** Stops a run. */
export const cancel: Run = apiCommand({
  command: "cancel_run",
  write: true,
  args: async (all) => ({
    runId: await runOf(all),
    ...given({ reason: flagText(all.input, "reason"), graceMs: durationOf(all.input, "grace") }),
  }),
  show: ({ runId, status }) => ({ said: [`${clean(runId)} is ${status}`] }),
});

/** Repeats a run as a new one. Embedded, the new one is this process's, so the command goes on until its end. */
export const retry: Run = apiCommand({
  command: "retry_run",
  write: true,
  args: async (all) => ({
    runId: await runOf(all),
    ...given({ from: valuesOf(all.input, "from") }),
  }),
  show: started,
  after: settle,
});

/** Deletes a run that has ended. */
export const remove: Run = apiCommand({
  command: "delete_run",
  write: true,
  args: async (all) => ({ runId: await runOf(all) }),
  show: (_, { input }) => ({ said: [`${clean(input.args[0] ?? "")} is deleted`] }),
});

/** Deletes ended runs that are older than a moment. */
export const prune: Run = apiCommand({
  command: "prune_runs",
  write: true,
  args: ({ input, io }) => {
    const before = flagText(input, "before");
    const status = valuesOf(input, "status") as readonly RunState[] | undefined;
    if (before === undefined && status === undefined) {
      throw usage("runs prune deletes nothing without --before or --status");
    }
    return given({ before: before && momentOf(before, io.now()), status });
  },
  show: ({ deleted }) => ({ said: [`${deleted} run${deleted === 1 ? "" : "s"} deleted`] }),
});

/** Years before it are not four digits. */
const EARLIEST: number = Date.parse("0001-01-01");

/** `30d` is that long ago, `2026-01-31` the begin of that day in UTC; anything else is a moment in ISO 8601. */
function momentOf(text: string, now: number): string {
  const day = /^\d{4}-\d\d-\d\d/.exec(text)?.[0];
  // A day that is in no calendar would become one of the next month.
  if (day !== undefined && isMoment(day) && new Date(day).toISOString().startsWith(day)) {
    if (text === day) return `${day}T00:00:00Z`;
    if (/T.*(?:Z|[+-]\d\d:\d\d)$/.test(text) && isMoment(text)) return text;
  }
  const ago = /^\d+(?:\.\d+)?(?:ms|[smhd])$/.test(text)
    ? now - parseDuration(text, "--before")
    : "";
  if (ago !== "" && isMoment(ago)) return new Date(ago).toISOString();
  throw usage(
    `--before takes a time, found "${text}"`,
    "write it as 30d, 2026-01-31 or 2026-01-31T08:00:00Z",
  );
}

function isMoment(at: string | number): boolean {
  return new Date(at).getTime() >= EARLIEST;
}
