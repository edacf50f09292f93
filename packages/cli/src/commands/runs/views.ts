/** `millrace runs show` and `runs tail`: a run as its tree, as it is now, and as it goes on. */

import {
  createView,
  type ExecutionEvent,
  foldEvents,
  type Run as StoredRun,
  type Summary,
  startedBy,
} from "@millrace/contracts";
import type { Api } from "../../api/api.ts";
import { type CommandContext, callApi, type Rendered, withApi } from "../../api/command.ts";
import { eventsOf, flowOf, lastRun, runIdOf } from "../../api/runs.ts";
import { say } from "../../argv/flags.ts";
import type { CommandIo, Input, Run } from "../../argv/spec.ts";
import { CliError, endedBy } from "../../errors.ts";
import { createDisplay } from "../../output/create-display.ts";
import { factLines } from "../../output/table.ts";
import { clean, formatTime } from "../../output/text.ts";
import { serverFlag } from "../../run/flags.ts";

/** The tree of a run as far as it got, with what it made, or why it failed. */
export const show: Run = callApi({
  command: "get_run",
  request: async ({ input: { args }, api, io }) => {
    const [word] = args;
    if (word !== undefined) return { runId: await runIdOf(word, api) };
    const { runId, createdAt } = await lastRun(api);
    await say(io, `the last run, of ${formatTime(createdAt)}:`);
    return { runId };
  },
  show: drawn,
});

/** Past events, then new ones, up to the summary. The exit code is the run's; an interrupt leaves the run alone. */
export const tail: Run = (input, io) =>
  withApi(input, io, undefined, async (api) => {
    const runId = await runIdOf(input.args[0] ?? "", api);
    const open = new Map<string, string>();
    const summary = await follow(runId, open, answering(runId, input), api, io);
    if (io.out.closed) return 1;
    if (summary !== undefined) return summary.exitCode;
    const [node] = open.values();
    if (node !== undefined) {
      const message = `"${clean(node)}" waits for a person; ${answering(runId, input)(node)} answers`;
      throw new CliError("confirmation_required", message);
    }
    throw new CliError("unavailable", `nobody works on ${clean(runId)} now`, {
      hint: `millrace resume ${clean(runId)} lets it go on`,
    });
  });

/** The command that answers the question of a node. */
function answering(runId: string, input: Input): (node: string) => string {
  return (node) => `millrace confirm ${clean(runId)} ${clean(node)} --approve${serverFlag(input)}`;
}

/** Shows a run as it goes on. Undefined: its log ends, and it has not. `open`: nodes that ask, by the ids of their questions. */
async function follow(
  runId: string,
  open: Map<string, string>,
  answer: (node: string) => string,
  api: Api,
  io: CommandIo,
): Promise<Summary | undefined> {
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
      if (event.kind === "confirm.resolved") open.delete(event.id);
      if (event.kind !== "confirm.requested") continue;
      open.set(event.id, event.node);
      if (io.json !== undefined || io.verbosity === "quiet") continue;
      // Most of a log has happened: only what is still asked is worth an answer.
      const { items } = await api.invoke("list_confirmations", { runId }, { signal });
      if (items.some(({ id }) => id === event.id)) display.say(`it asks: ${answer(event.node)}`);
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

async function drawn(run: StoredRun, { api, io, input }: CommandContext): Promise<Rendered> {
  const [{ treeLines }, { createStyle }] = await Promise.all([
    import("../../output/tree.ts"),
    import("../../output/style.ts"),
  ]);
  const { runId } = run;
  const graph = await api.invoke("get_run_graph", { runId });
  const view = createView(runId);
  for (const event of await eventsOf(runId, api)) foldEvents(view, event as ExecutionEvent);
  const { columns } = io.size("stdout");
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
        ["started by", startedBy(run)],
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
      .map(({ node }) => `it asks: ${answering(runId, input)(node)}`),
  };
}
