/**
 * `millrace resume`: a kept run goes on with the flow it was started with, in this process or on its server.
 *   S1  Nothing that has ended runs again; its events come first, so that what is shown is the whole log.
 *   S2  A run that has ended is refused with 1, one that a living process works on with 6, which is named.
 */

import { ClientError } from "@millrace/client";
import type { FlowGraph, Run } from "@millrace/contracts";
import type { Api } from "../api/api.ts";
import { withApi } from "../api/command.ts";
import { runIdOf } from "../api/runs.ts";
import { arg, serverCommand } from "../argv/flags.ts";
import {
  type CliCommand,
  type CommandIo,
  flagList,
  flagText,
  type Input,
  isOn,
} from "../argv/spec.ts";
import { CliError, interruptible } from "../errors.ts";
import { clean } from "../output/text.ts";
import { followApiRun } from "../run/api-run.ts";
import { openEvents } from "../run/event-file.ts";
import { ANSWER_FLAGS, EVENTS_FLAG, GRACE_FLAG, graceOf, readAnswers } from "../run/flags.ts";

export const commands: readonly CliCommand[] = [
  serverCommand("resume", "go on with a kept run that was interrupted, or waits", {
    args: [arg("run", "id of the run", "run")],
    flags: [...ANSWER_FLAGS, GRACE_FLAG, EVENTS_FLAG],
    output: "stream",
    examples: [["resume run_01JD8Z6K7Q2M4N5P6R7S8T9V0W", "no step that has ended runs again"]],
    run,
  }),
];

/** Takes the run up and follows it to its end; the exit code is the summary's. */
async function run(input: Input, io: CommandIo): Promise<number> {
  const answers = readAnswers(flagList(input, "confirm"), isOn(input, "yes"));
  return withApi(input, io, true, async (api) => {
    graceOf(input, api.config); // a wrong one is told before anything is taken up
    const runId = await interruptible(io.signal, runIdOf(input.args[0] ?? "", api));
    const before = await interruptible(io.signal, unfinished(runId, api));
    const tee = await openEvents(flagText(input, "events"), io);
    try {
      const graph = await interruptible(io.signal, takeUp(runId, api));
      const { lastSeq } = before;
      const survives = api.where === "remote";
      const options = { graph, answers, past: lastSeq, known: lastSeq, tee, survives };
      const summary = await followApiRun(runId, { input, io, api }, options);
      return io.out.closed ? 1 : summary.exitCode;
    } finally {
      await tee?.close();
    }
  });
}

async function unfinished(runId: string, api: Api): Promise<Run> {
  const before: Run = await api.invoke("get_run", { runId });
  if (before.endedAt !== null) {
    throw new CliError("check_failed", `the run ${clean(runId)} has ended: ${before.status}`, {
      problem: "state_conflict",
      hint: `millrace runs retry ${runId} runs it once more`,
    });
  }
  return before;
}

/** Lets the run go on; its flow. */
async function takeUp(runId: string, api: Api): Promise<FlowGraph> {
  const graph = await api.invoke("get_run_graph", { runId });
  await api.invoke("resume_run", { runId }).catch((error: unknown) => {
    // It is at work, or it waits for an answer: then there is nothing to resume, and it is followed.
    const goesOn =
      ClientError.isInstance(error) &&
      error.code === "state_conflict" &&
      error.problem?.["state"] !== undefined;
    if (!goesOn) throw error;
  });
  return graph;
}
