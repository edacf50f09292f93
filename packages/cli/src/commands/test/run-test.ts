/** One run of a flow in the world of its fixtures, as a log. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  checkLog,
  type Diagnostic,
  type ExecutionEvent,
  type FlowGraph,
  type Violation,
} from "@millrace/contracts";
import { whenAborted } from "@millrace/contracts/kit";
import type { Plan } from "@millrace/engine";
import type { CommandIo } from "../../argv/spec.ts";
import { warnOn } from "../../config/files.ts";
import { type RunConfig, resolveConfig } from "../../config/load.ts";
import { type OpenFixtures, openFixtures } from "../../fixtures/world.ts";
import { debugLines } from "../../output/debug-lines.ts";
import { countFindings, errorsOf, isValid, showFindings } from "../../output/findings.ts";
import { clean } from "../../output/text.ts";
import { compileSource, subflowsIn } from "../../run/compile.ts";
import { type FlowSource, loadFlow } from "../../run/load-flow.ts";
import {
  extensionsOf,
  openEngine,
  type RunExtensions,
  varsOf,
  type World,
} from "../../run/world.ts";
import type { FlowTest } from "./find.ts";
import { golden } from "./normal.ts";

/** A flow that waits longer waits for something that its fixtures do not hold. */
const TIMEOUT_MS = 60_000;

/** The normal form of the log, or why there is none. `failed`: how the run ended, when it did not succeed. */
export type Outcome =
  | { readonly text: string; readonly failed: RunFailure | undefined }
  | { readonly problems: readonly string[] };

/** Why a run did not succeed. `lacks`: its fixtures do not hold what a step asked for. */
interface RunFailure {
  readonly says: string;
  readonly lacks: boolean;
}

/** Runs a test and checks its log against the invariants of events. Throws a usage error for fixtures that cannot be read. */
export async function runTest(
  test: FlowTest,
  named: { readonly file: string | undefined; readonly home: string | undefined },
  io: CommandIo,
): Promise<Outcome> {
  const source = await loadFlow(test.file, io, named);
  if (!isValid(source.diagnostics)) return invalid(source.diagnostics, source, io);
  const project = await resolveConfig(source.sources, io, warnOn(io));
  const fixtures = await fixturesOf(test);
  const opened: { close(): Promise<void> }[] = [fixtures];
  try {
    const extensions = await extensionsOf(project, io, { fixtures, debug: debugLines(io) });
    opened.unshift(extensions);
    const subflows = subflowsIn([source.folder, project.flows]);
    await fixtures.check(source.graph, subflows);
    const compiled = await compileSource(source, {
      types: [...source.services, ...extensions.serviceEntries, ...extensions.types],
      subflows,
      sameTypes: project.extensions.list.length === 0,
    });
    if (!compiled.ok) return await invalid(compiled.diagnostics, source, io);
    const config = { ...project, services: [...source.services, ...extensions.services] };
    const needsAi = compiled.plan.needs.includes("ai");
    const world = await fixtures.world({ config, io, needsAi, speed: 0 });
    opened.unshift(world);
    return await runPlan(compiled.plan, { test, source, config, extensions, world }, io);
  } finally {
    for (const each of opened) await each.close();
  }
}

async function invalid(
  findings: readonly Diagnostic[],
  source: FlowSource,
  io: CommandIo,
): Promise<Outcome> {
  const errors = errorsOf(findings);
  await showFindings(errors, source, io);
  const messages = io.json === undefined ? [] : errors.map(({ message }) => clean(message));
  return { problems: [`the flow is not valid: ${countFindings(findings)}`, ...messages] };
}

interface TestParts {
  readonly test: FlowTest;
  readonly source: FlowSource;
  readonly config: RunConfig;
  readonly extensions: RunExtensions;
  readonly world: World;
}

async function runPlan(
  plan: Plan,
  { test, source, config, extensions, world }: TestParts,
  { signal }: CommandIo,
): Promise<Outcome> {
  const engine = await openEngine(config, world, extensions, {});
  try {
    const missing = errorsOf(engine.checkInputs(plan, world.inputs));
    if (missing.length > 0) {
      const where = test.fixtures ?? "its folder of fixtures";
      return {
        problems: missing.map(({ message }) =>
          clean(`${message}; inputs.json in ${where} gives it`),
        ),
      };
    }
    let waits: string | undefined;
    const run = engine.run(plan, world.inputs, {
      vars: await varsOf(plan, config, world.vars),
      trigger: "cli",
      timeoutMs: config.run.timeoutMs ?? TIMEOUT_MS,
      confirm: async (asked) => {
        const answer = await world.confirm(asked);
        if (answer !== undefined) return answer;
        waits ??= asked.node;
        run.cancel({ reason: "user", graceMs: 0 });
        return undefined;
      },
    });
    const leave = whenAborted(signal, () => run.cancel({ reason: "sigint", graceMs: 0 }));
    const log: ExecutionEvent[] = [];
    for await (const page of run.batches()) log.push(...page);
    leave();
    if (waits !== undefined) {
      return { problems: [`"${waits}" waits for a person; answer it in confirm.json`] };
    }
    return judge(log, source.graph, world.filesRoot);
  } finally {
    await engine.close({ graceMs: 0 });
  }
}

/** Without a folder of fixtures the world is empty: whatever the flow asks of it is missing. */
async function fixturesOf({ fixtures }: FlowTest): Promise<OpenFixtures> {
  if (fixtures !== undefined) return openFixtures(fixtures);
  const empty = await mkdtemp(join(tmpdir(), "millrace-fixtures-"));
  try {
    return await openFixtures(empty);
  } finally {
    await rm(empty, { recursive: true });
  }
}

function judge(log: readonly ExecutionEvent[], graph: FlowGraph, root: string): Outcome {
  const broken = checkLog(log, { graph });
  if (broken.length > 0) return { problems: broken.map(sentence) };
  return { text: golden(log, graph, root), failed: failureOf(log) };
}

function failureOf(log: readonly ExecutionEvent[]): RunFailure | undefined {
  const summary = log.findLast((event) => event.kind === "summary");
  if (summary === undefined || summary.status === "succeeded") return undefined;
  const { status, error } = summary;
  const why = error === undefined ? "" : ` with ${error.code}: ${error.message}`;
  const lacks = error?.code === MISSING || error?.cause === MISSING;
  return { says: clean(`the run ${status}${why}`), lacks };
}

const MISSING = "fixture_missing";

function sentence(violation: Violation): string {
  const { invariant, seq, message } = violation;
  return clean(`the log breaks ${invariant} at seq ${seq}: ${message}`);
}
