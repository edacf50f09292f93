/**
 * `millrace run`: one flow, in this process or on the server that was named, shown as it goes.
 *   R1  The exit code is the summary's.
 *   R2  A run that is kept is in the store before its first event is shown.
 */

import type { RunHeaderOptions, Summary } from "@millrace/contracts";
import type { Traces } from "@millrace/server/traces";
import { namedServer } from "../api/server-url.ts";
import { type CommandIo, flagList, flagText, type Input, isOn } from "../argv/spec.ts";
import { configFlags, warnOn } from "../config/files.ts";
import { type Config, environmentIn, loadConfig } from "../config/load.ts";
import { interruptible, usage } from "../errors.ts";
import { engineRun, presetAnswers } from "./engine-run.ts";
import { type EventFile, openEvents } from "./event-file.ts";
import { projectStart } from "./find-flow.ts";
import { checkPlace, graceOf, isSaved, tagsOf, timeoutOf } from "./flags.ts";
import { followRun } from "./follow.ts";
import { checkOneStdin } from "./inputs.ts";
import type { FlowSource } from "./load-flow.ts";
import { prepare } from "./prepare.ts";
import type { SavingJournal } from "./saving-journal.ts";

/** Runs the flow and returns its exit code. */
export async function run(input: Input, io: CommandIo): Promise<number> {
  const name = input.args[0] as string;
  checkOneStdin(name, flagList(input, "input"), flagText(input, "input-json"));
  const loaded = await loadConfig(
    { ...configFlags(input), folder: await projectStart(name, io) },
    io,
    warnOn(io),
  );
  const environment = environmentIn(flagText(input, "env"), "--env") ?? loaded.environment;
  const config = { ...loaded, environment };
  const server = namedServer(input, config);
  checkPlace(input, server);
  if (server !== undefined) {
    const { runRemote } = await import("./remote.ts");
    return runRemote(input, config, io);
  }
  if (isOn(input, "watch")) {
    const { watch } = await import("./watch.ts");
    return watch(input, io, (each) => runHere(input, config, each));
  }
  const summary = await runHere(input, config, io);
  if (summary.error !== undefined && io.json === undefined) {
    const { adviceFor } = await import("./advise.ts");
    const next = await adviceFor(summary, input, io);
    await io.err.write(next.map((line) => `next: ${line}\n`).join(""));
  }
  return io.out.closed ? 1 : summary.exitCode;
}

/** Runs the flow once in this process. */
async function runHere(input: Input, config: Config, io: CommandIo): Promise<Summary> {
  const saved = isSaved(input, config, warnOn(io));
  const traces = await openTraces(io);
  const traceparent = traces && io.env["TRACEPARENT"];
  const options = { ...timeoutOf(input, config), ...(traceparent && { traceparent }) };
  const journal = saved ? await openJournal(config, options, traces) : undefined;
  try {
    const kept = { journal, traces };
    const prepared = await interruptible(io.signal, prepare(input, config, io, kept));
    const { source, template, inputs, vars, plan, engine, answers, debug } = prepared;
    const ended = new AbortController();
    let tee: EventFile | undefined;
    try {
      tee = await openEvents(flagText(input, "events"), io);
      const asked = presetAnswers(answers, io.interactive);
      const started = engine.run(plan, inputs, {
        trigger: "cli",
        ...(template !== undefined && { template }),
        ...timeoutOf(input, config),
        ...tagsOf(input),
        ...only(input, source),
        vars,
        environment: config.environment,
        confirm: asked.confirm,
      });
      const shown = { ...io, now: prepared.now }; // by the clock of the run, which fixtures set
      const shownAs = {
        graph: source.graph,
        graceMs: graceOf(input, config),
        io: shown,
        tee,
        debug,
      };
      void journal?.obey(started, ended.signal);
      const live = engineRun(started, asked, {
        ...(journal && { saved: { engine, journal: journal.journal } }),
        ...(journal === undefined && { traces }),
      });
      return await followRun(live, shownAs);
    } finally {
      ended.abort();
      // A run that waits for a person stays where it is, when it is kept.
      await engine.close(saved ? { leave: true } : { graceMs: 0 });
      await prepared.close();
      await tee?.close();
    }
  } finally {
    await journal?.close();
    await traces?.close();
  }
}

/** Loaded where a variable asks for it. */
async function openTraces(io: CommandIo): Promise<Traces | undefined> {
  const isAsked = Object.keys(io.env).some((name) => name.startsWith("OTEL_EXPORTER_OTLP_"));
  return isAsked ? (await import("./traces.ts")).tracesOf(io) : undefined;
}

/** Loaded for runs that are kept. */
async function openJournal(
  config: Config,
  options: RunHeaderOptions,
  traces: Traces | undefined,
): Promise<SavingJournal> {
  const { openSaving } = await import("./saving-journal.ts");
  const saving = await openSaving(config, options);
  return traces === undefined ? saving : { ...saving, journal: traces.watched(saving.journal) };
}

function only(input: Input, source: FlowSource): { only?: string[] } {
  const nodes = flagList(input, "only");
  for (const id of nodes) {
    if (!source.graph.nodes.some((node) => node.id === id))
      throw usage(`--only: the flow has no node ${id}`);
  }
  return nodes.length === 0 ? {} : { only: [...nodes] };
}
