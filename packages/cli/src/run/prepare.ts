/** Everything before a run in this process: nothing of it has an effect, so a signal may leave it at any point. */

import { resolve } from "node:path";
import type { Json, JsonObject } from "@millrace/contracts";
import type { ConfirmHandler, Engine, Plan } from "@millrace/engine";
import type { Traces } from "@millrace/server/traces";
import { type CommandIo, flagList, flagText, type Input, isOn } from "../argv/spec.ts";
import { configFlags } from "../config/files.ts";
import type { Config } from "../config/load.ts";
import { usage } from "../errors.ts";
import type { OpenFixtures } from "../fixtures/world.ts";
import { type DebugLines, debugLines } from "../output/debug-lines.ts";
import { errorsOf, invalidFlow, isValid, showFindings } from "../output/findings.ts";
import { compileSource, subflowsOf } from "./compile.ts";
import { isSlug, storedTemplate } from "./find-flow.ts";
import { readAnswers } from "./flags.ts";
import { readInputs } from "./inputs.ts";
import { type FlowSource, loadFlow } from "./load-flow.ts";
import type { SavingJournal } from "./saving-journal.ts";
import { extensionsOf, openEngine, openMachine, type RunExtensions, varsOf } from "./world.ts";

/** A run that only has to be started. */
export interface Prepared {
  readonly source: FlowSource;
  /** Slug of the template that it is a run of. */
  readonly template: string | undefined;
  readonly inputs: { readonly [name: string]: Json };
  /** Values that the flow reads as `vars`. */
  readonly vars: JsonObject | undefined;
  readonly plan: Plan;
  readonly engine: Engine;
  /** The clock of its world. */
  readonly now: () => number;
  readonly answers: ConfirmHandler;
  /** With `--verbose`. */
  readonly debug: DebugLines | undefined;
  close(): Promise<void>;
}

/** Reads, checks and compiles what the words name. `journal`: where the run is kept; `traces`: what follows its requests. */
export async function prepare(
  input: Input,
  config: Config,
  io: CommandIo,
  {
    journal,
    traces,
  }: { readonly journal?: SavingJournal | undefined; readonly traces?: Traces | undefined },
): Promise<Prepared> {
  const name = input.args[0] as string;
  const answers = readAnswers(flagList(input, "confirm"), isOn(input, "yes"));
  const { source, template } = await sourceOf(name, input, config, io);
  await report(source, io);
  const given = await readInputs(
    source.graph,
    flagList(input, "input"),
    flagText(input, "input-json"),
    io,
  );
  const debug = debugLines(io);
  const fixtures = await fixturesOf(input, io);
  const opened: { close(): Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    for (const each of opened) await each.close();
    await fixtures?.close();
  };
  try {
    const how = { watch: isOn(input, "watch"), fixtures, debug };
    const extensions = await extensionsOf(config, io, how);
    opened.push(extensions);
    const plan = await compile(source, config, { ...extensions, fixtures }, io);
    const all = { ...config, services: [...source.services, ...extensions.services] };
    const needsAi = plan.needs.includes("ai");
    const options = { config: all, io, needsAi };
    const world = await (fixtures?.world({ ...options, speed: 1 }) ??
      openMachine(options, journal));
    opened.push(world);
    const inputs = { ...world.inputs, ...given };
    const vars = await varsOf(plan, config, world.vars ?? journal?.vars);
    const engine = await openEngine(all, world, extensions, {
      ...{ journal: journal?.journal, debug, traces },
    });
    const missing = errorsOf(engine.checkInputs(plan, inputs));
    if (missing.length > 0) {
      throw usage(missing.map(({ message }) => message).join("; "), "give it with -i name=value");
    }
    const answered: ConfirmHandler = async (asked) =>
      (await answers(asked)) ?? world.confirm(asked);
    const now = (): number => world.host.now();
    return { source, template, inputs, vars, plan, engine, now, answers: answered, debug, close };
  } catch (error) {
    await close(); // a check of an extension may have started a process
    throw error;
  }
}

async function sourceOf(
  name: string,
  input: Input,
  config: Config,
  io: CommandIo,
): Promise<{ readonly source: FlowSource; readonly template: string | undefined }> {
  const { sources } = config;
  const named = { ...configFlags(input), watch: isOn(input, "watch"), sources };
  if (!(await isSlug(name, io))) {
    return { source: await loadFlow(name, io, named), template: undefined };
  }
  const { dsl } = await storedTemplate(name, config, io);
  const bytes = new TextEncoder().encode(dsl);
  return { source: await loadFlow(name, io, { ...named, bytes }), template: name };
}

async function fixturesOf(input: Input, { cwd }: CommandIo): Promise<OpenFixtures | undefined> {
  const folder = flagText(input, "fixtures");
  if (folder === undefined) return undefined;
  const { openFixtures } = await import("../fixtures/world.ts");
  return openFixtures(resolve(cwd, folder));
}

/** Shows errors, and warnings unless `--quiet`. Throws when the flow is invalid. */
async function report(source: FlowSource, io: CommandIo): Promise<void> {
  const { diagnostics } = source;
  const shown = diagnostics.filter(({ severity }) => severity !== "info");
  await showFindings(shown, source, io);
  if (!isValid(diagnostics)) throw invalidFlow(errorsOf(diagnostics));
}

async function compile(
  source: FlowSource,
  { flows, extensions: { list }, credentials }: Config,
  { fixtures, ...extensions }: RunExtensions & { readonly fixtures: OpenFixtures | undefined },
  io: CommandIo,
): Promise<Plan> {
  const subflows = subflowsOf([source.folder, flows], credentials.dir);
  await fixtures?.check(source.graph, subflows);
  const compiled = await compileSource(source, {
    types: [...source.services, ...extensions.serviceEntries, ...extensions.types],
    subflows,
    sameTypes: list.length === 0, // what an extension lists can be refused when it is opened
  });
  if (compiled.ok) return compiled.plan;
  const errors = errorsOf(compiled.diagnostics);
  await showFindings(errors, source, io);
  throw invalidFlow(errors);
}
