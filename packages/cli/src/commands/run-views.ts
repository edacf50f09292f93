/** `millrace runs show` and `runs tail`: a run as its tree, as it is now, and as it goes on. */
import {
  createView,
  type ExecutionEvent,
  foldEvents,
  type Run as StoredRun,
  type Summary,
} from "@millrace/contracts";
import type { Api } from "../api/open-api.ts";
import { apiCommand, type Given, type Run, type Shown, withApi } from "../api-command.ts";
import type { CommandIo } from "../command.ts";
import { createDisplay } from "../display.ts";
import { CliError } from "../errors.ts";
import { endedBy } from "../interrupt.ts";
import { factLines, formatTime } from "../render/table.ts";
import { clean } from "../render/text.ts";
import { flowOf, runOf } from "../run-facts.ts";
import { eventsOf } from "../run-log.ts";

/** The tree of a run as far as it got, with what it made, or why it failed. */
export const show: Run = apiCommand({
  command: "get_run",
  args: ({ input }) => ({ runId: runOf(input) }),
  show: drawn,
});

/** What has happened, then what happens, to the summary. The exit code is the run's; whoever leaves leaves the run alone. */
export const tail: Run = (input, io) =>
  withApi(input, io, undefined, async (api) => {
    const runId = runOf(input);
    const summary = await follow(runId, api, io);
    if (io.out.closed) return 1;
    if (summary !== undefined) return summary.exitCode;
    throw new CliError("unavailable", `nobody works on ${clean(runId)} now`, {
      hint: `millrace resume ${clean(runId)} lets it go on`,
    });
  });

/** Shows a run as it goes on. Undefined: its log ends, and it has not. */
async function follow(runId: string, api: Api, io: CommandIo): Promise<Summary | undefined> {
  const graph = await api.invoke("get_run_graph", { runId });
  const view = createView(runId);
  const display = await createDisplay(graph, view, { ...io, interactive: false });
  const left = new AbortController();
  if (io.json !== undefined) io.out.onClose(() => left.abort());
  const signal = AbortSignal.any([io.signal, left.signal]);
  let summary: Summary | undefined;
  try {
    for await (const given of api.runEvents(runId, { signal })) {
      const event = given as ExecutionEvent;
      foldEvents(view, event);
      await display.show([event]);
      if (event.kind === "summary") summary = event;
    }
  } catch (error) {
    await display.end();
    if (left.signal.aborted) return undefined;
    if (!io.signal.aborted) throw error;
    throw endedBy(io.signal, "; the run goes on", `millrace runs cancel ${runId} stops it`);
  }
  await display.end(summary);
  return summary;
}

async function drawn(run: StoredRun, { api, io }: Given): Promise<Shown> {
  const [{ treeLines }, { createStyle }] = await Promise.all([
    import("../render/tree.ts"),
    import("../render/style.ts"),
  ]);
  const { runId } = run;
  const graph = await api.invoke("get_run_graph", { runId });
  const view = createView(runId);
  for (const event of await eventsOf(runId, api)) foldEvents(view, event as ExecutionEvent);
  const { columns } = io.size();
  const tree = treeLines(view, graph, {
    style: createStyle(io.colour && io.isTTY.stdout, io.env),
    columns: (io.isTTY.stdout && columns) || Number.MAX_SAFE_INTEGER,
    now: io.now(),
    interactive: false,
  });
  const { outputs = {}, error } = run.summary ?? {};
  return {
    data: [
      ...factLines([
        ["run", runId],
        ["flow", flowOf(run)],
        ["started by", run.trigger],
        ["created", formatTime(run.createdAt)],
        ["ended", run.endedAt === null ? undefined : formatTime(run.endedAt)],
        ["repeats", run.retryOf ?? undefined],
        [
          "tags",
          Object.entries(run.tags)
            .map((pair) => pair.join("="))
            .join(" "),
        ],
      ]),
      "",
      ...tree,
      ...(error === undefined ? [] : ["", `${error.code}: ${clean(error.message)}`]),
      ...(Object.keys(outputs).length === 0 ? [] : ["", JSON.stringify(outputs, null, 2)]),
    ],
    said: run.confirmations
      .filter(({ status }) => status === "requested")
      .map(({ node }) => `it asks: millrace confirm ${runId} ${clean(node)} --approve`),
  };
}
