/** `millrace runs`: lists runs and acts on them. `show` and `tail` are in `views.ts`. */

import { type RunState, startedBy } from "@millrace/contracts";
import { itemsOf, MAX_PAGE } from "../../api/api.ts";
import {
  apiCommand,
  type CommandContext,
  callApi,
  durationOf,
  listCommand,
  pairsOf,
  valuesOf,
  withApi,
} from "../../api/command.ts";
import { flowOf, runIdOf } from "../../api/runs.ts";
import { arg, option, printAnswer, serverCommand } from "../../argv/flags.ts";
import {
  type ArgSpec,
  type CliCommand,
  type FlagSpec,
  flagText,
  type Input,
  isOn,
  type Run,
} from "../../argv/spec.ts";
import { formatDuration, parseDuration } from "../../argv/values.ts";
import { reason, usage } from "../../errors.ts";
import { clean, formatTime } from "../../output/text.ts";
import { followToEnd, startedRun } from "../../run/follow-to-end.ts";

const RUN: ArgSpec = arg("id", "the run, or how its id begins", "run");
const STATUS = option("status", "<status>", "runs of this status", {
  multiple: true,
  choices: ["pending", "running", "paused", "cancelling", "succeeded", "failed", "cancelled"],
});

const TEMPLATE = option("template", "<slug>", "runs of this template", { complete: "template" });
const UNACKNOWLEDGED: FlagSpec = {
  long: "unacknowledged",
  summary: "runs that failed, and that nobody has acknowledged or retried",
};

const list = listCommand("runs list", "list runs, newest first", {
  command: "list_runs",
  flags: [
    STATUS,
    { long: "failed", summary: "runs that failed: --status failed" },
    UNACKNOWLEDGED,
    TEMPLATE,
    option("flow", "<id>", "runs of the flow with this id, stored or not"),
    option("retry-of", "<run>", "runs that repeat this one", { complete: "run" }),
    option("tag", "<k=v>", "runs with this tag", { multiple: true }),
  ],
  examples: [["runs list --failed --unacknowledged", "what went wrong, and nobody has seen to"]],
  request: ({ input }) => ({
    status: statusOf(input),
    unacknowledged: isOn(input, "unacknowledged") || undefined,
    template: flagText(input, "template"),
    flow: flagText(input, "flow"),
    retryOf: flagText(input, "retry-of"),
    tags: pairsOf(input, "tag"),
  }),
  headings: ["RUN", "STATUS", "FLOW", "STARTED BY", "CREATED", "TOOK", ""],
  row: (run) => [
    run.runId,
    run.status,
    flowOf(run),
    startedBy(run),
    formatTime(run.createdAt),
    run.summary === null ? "-" : formatDuration(run.summary.durationMs),
    run.summary?.error?.code ?? "",
  ],
  none: "no such run; a run is kept on a server, or with millrace run --save",
});

function runOf({ input, api }: CommandContext): Promise<string> {
  return runIdOf(input.args[0] ?? "", api);
}

const cancel = apiCommand("runs cancel", "stop a run", {
  args: [RUN],
  flags: [
    option("reason", "<text>", "why, for its log"),
    option("grace", "<duration>", "how long steps may take to stop (default 2s)"),
  ],
  examples: [["runs cancel run_01", "its steps are stopped"]],
  command: "cancel_run",
  write: true,
  request: async (all) => ({
    runId: await runOf(all),
    reason: flagText(all.input, "reason"),
    graceMs: durationOf(all.input, "grace"),
  }),
  show: ({ runId, status }) => ({ said: [`${clean(runId)} is ${status}`] }),
});

/** Repeats a run as a new one. Embedded, the new one is this process's, so the command goes on until its end. */
const retry = serverCommand("runs retry", "repeat a run as a new one that keeps earlier results", {
  args: [{ name: "id", summary: "the run, or how its id begins", complete: "run" }],
  flags: [
    option("from", "<node>", "repeat this step and what follows it", { multiple: true }),
    {
      long: "failed-items",
      summary: "repeat also the failed items of a map that collected its errors",
    },
    { long: "failed", summary: "with --unacknowledged, instead of a run: every one of these" },
    UNACKNOWLEDGED,
    TEMPLATE,
  ],
  examples: [
    ["runs retry run_01", "what did not succeed runs again"],
    ["runs retry run_01 --failed-items", "so do the items that a map went without"],
    ["runs retry --failed --unacknowledged", "the same for all that failed"],
  ],
  run: (...all) => (all[0].args[0] === undefined ? retryFailed : retryOne)(...all),
});

const retryOne = callApi({
  command: "retry_run",
  write: true,
  request: async (all) => {
    if (["failed", "unacknowledged", "template"].some((flag) => flag in all.input.flags)) {
      throw usage("a run that is named needs no --failed, --unacknowledged or --template");
    }
    return {
      runId: await runOf(all),
      from: valuesOf(all.input, "from"),
      failedItems: isOn(all.input, "failed-items") ? (true as const) : undefined,
      inputs: undefined,
    };
  },
  show: startedRun,
  after: followToEnd,
});

/** Repeats every failed run that was not acknowledged, the oldest first. A refused one stays in the list. */
const retryFailed: Run = (input, io) => {
  if (!isOn(input, "unacknowledged")) {
    throw usage("runs retry takes a run, or --failed --unacknowledged");
  }
  return withApi(input, io, true, async (api) => {
    const template = flagText(input, "template");
    const filter = { unacknowledged: true, ...(template !== undefined && { template }) };
    const failed: { readonly runId: string; readonly createdAt: string }[] = [];
    const pages = itemsOf((page) => api.invoke("list_runs", { ...filter, ...page }));
    for await (const { runId, createdAt } of pages) failed.unshift({ runId, createdAt });
    const items: { readonly runId: string; readonly retryOf: string }[] = [];
    const refused: { readonly runId: string; readonly message: string }[] = [];
    const again = isOn(input, "failed-items") ? ({ failedItems: true } as const) : {};
    let code = 0;
    for (const { runId, createdAt } of failed) {
      try {
        // While those before it ran, somebody may have acknowledged it or run it again.
        const now = { ...filter, since: createdAt, until: createdAt, limit: MAX_PAGE };
        const { items: open } = await api.invoke("list_runs", now);
        if (!open.some((run) => run.runId === runId)) continue;
        const ref = await api.invoke("retry_run", { runId, ...again });
        items.push({ runId: ref.runId, retryOf: runId });
        code = Math.max(code, await followToEnd(ref, { api, io, input }, { answered: true }));
      } catch (error) {
        refused.push({ runId, message: reason(error) });
      }
    }
    await printAnswer(
      {
        value: { items, refused },
        data: items.map(({ runId, retryOf }) => `${runId} repeats ${retryOf}`),
        said: [
          ...refused.map(({ runId, message }) => `${runId} is not repeated: ${clean(message)}`),
          ...(failed.length === 0 ? ["nothing to retry"] : []),
        ],
      },
      io,
    );
    return Math.max(code, refused.length > 0 ? 1 : 0);
  });
};

const ack = apiCommand("runs ack", "acknowledge failed runs: somebody has looked at them", {
  args: [{ name: "id", summary: RUN.summary, variadic: true, complete: "run" }],
  flags: [{ long: "all", summary: "every failed run that nobody has looked at" }, TEMPLATE],
  examples: [
    ["runs ack run_01", "it leaves runs list --unacknowledged"],
    ["runs ack --all --template nightly", "so do all of one template"],
  ],
  command: "acknowledge_runs",
  write: true,
  request: async ({ input, api }) => {
    const all = isOn(input, "all");
    const template = flagText(input, "template");
    if (all === input.args.length > 0) throw usage("runs ack takes runs, or --all");
    if (template !== undefined && !all) throw usage("--template goes with --all");
    if (all) return { all, template, runIds: undefined };
    const runIds = await Promise.all(input.args.map((word) => runIdOf(word, api)));
    return { runIds, all: undefined, template };
  },
  show: ({ acknowledged }) => ({
    said: [
      acknowledged === 0
        ? "nothing to acknowledge"
        : `${acknowledged} failed run${acknowledged === 1 ? "" : "s"} acknowledged`,
    ],
  }),
});

const remove = apiCommand("runs delete", "delete a run that has ended", {
  args: [RUN],
  examples: [["runs delete run_01", "with its log"]],
  command: "delete_run",
  write: true,
  request: async (all) => ({ runId: await runOf(all) }),
  show: (_, { input }) => ({ said: [`${clean(input.args[0] ?? "")} is deleted`] }),
});

const prune = apiCommand("runs prune", "delete ended runs by age or status", {
  flags: [option("before", "<time>", "older than this: 30d, or a moment in ISO 8601"), STATUS],
  examples: [["runs prune --before 30d", "what ended or began a month ago"]],
  command: "prune_runs",
  write: true,
  request: ({ input, io }) => {
    const before = flagText(input, "before");
    const status = valuesOf(input, "status") as readonly RunState[] | undefined;
    if (before === undefined && status === undefined) {
      throw usage("runs prune deletes nothing without --before or --status");
    }
    return { before: before && momentOf(before, io.now()), status };
  },
  show: ({ deleted }) => ({ said: [`${deleted} run${deleted === 1 ? "" : "s"} deleted`] }),
});

const show = serverCommand("runs show", "show a run as a tree, and what it made", {
  args: [{ name: "id", summary: "the run (default the last one)", complete: "run" }],
  examples: [["runs show run_01", "every step, and why it failed"]],
  run: async (...all) => (await import("./views.ts")).show(...all),
});

const tail = serverCommand("runs tail", "show what a run has done, then what it does, to its end", {
  args: [RUN],
  output: "stream",
  examples: [["runs tail run_01 --json", "every event, one a line"]],
  run: async (...all) => (await import("./views.ts")).tail(...all),
});

export const commands: readonly CliCommand[] = [
  list,
  show,
  tail,
  cancel,
  retry,
  ack,
  remove,
  prune,
];

function statusOf(input: Input): readonly RunState[] | undefined {
  const status = valuesOf(input, "status") as readonly RunState[] | undefined;
  return isOn(input, "failed") ? [...(status ?? []), "failed"] : status;
}

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
