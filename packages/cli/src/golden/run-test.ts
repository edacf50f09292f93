/** One run of a flow in the world of its fixtures, as a log. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aiSettings } from "@millrace/ai";
import { checkLog, type ExecutionEvent, type FlowGraph, type Violation } from "@millrace/contracts";
import { compileFlow, createEngine } from "@millrace/engine";
import { createStandardRegistry } from "@millrace/server/registry";
import type { CommandIo } from "../argv/spec.ts";
import { warnOn } from "../config/files.ts";
import { resolveConfig } from "../config/load.ts";
import { type FixtureWorld, openFixtures } from "../fixtures/world.ts";
import { clean } from "../output/text.ts";
import { subflowsIn } from "../run/compile.ts";
import { countFindings, isValid, loadFlow } from "../run/load-flow.ts";
import type { FlowTest } from "./find.ts";
import { golden } from "./normal.ts";

/** A flow that waits longer waits for something that its fixtures do not hold. */
const TIMEOUT_MS = 60_000;

/** The normal form of the log, or why there is none. */
export type Outcome = { readonly text: string } | { readonly problems: readonly string[] };

/** Runs a test and checks its log against the invariants of events. Throws a usage error for fixtures that cannot be read. */
export async function runTest(
  test: FlowTest,
  named: { readonly file: string | undefined; readonly home: string | undefined },
  io: CommandIo,
): Promise<Outcome> {
  const source = await loadFlow(test.file, io, named);
  if (!isValid(source.diagnostics)) {
    return { problems: [`the flow is not valid: ${countFindings(source.diagnostics)}`] };
  }
  const config = await resolveConfig(source.sources, io, warnOn(io));
  const compiled = await compileFlow(source.graph, {
    registry: createStandardRegistry(config.services),
    subflows: subflowsIn([source.folder, config.flows]),
  });
  if (!compiled.ok) return { problems: compiled.diagnostics.map(({ message }) => clean(message)) };
  const world = await worldOf(test, { config, io, speed: 0 });
  const ai = compiled.plan.needs.includes("ai") ? await world.ai() : undefined;
  const engine = createEngine({
    host: world.host,
    credentials: world.credentials,
    services: new Map(config.services.map((service) => [service.slug, service])),
    egress: config.egress,
    files: { root: world.filesRoot },
    ...(world.shell && { shell: world.shell }),
    settings: ai ? [aiSettings({ ...ai.ai, providers: ai.providers })] : [],
  });
  try {
    const missing = engine.checkInputs(compiled.plan, world.inputs);
    const problems = missing.filter(({ severity }) => severity === "error");
    if (problems.length > 0) {
      const where = test.fixtures ?? "its folder of fixtures";
      return {
        problems: problems.map(({ message }) =>
          clean(`${message}; inputs.json in ${where} gives it`),
        ),
      };
    }
    let waits: string | undefined;
    const run = engine.run(compiled.plan, world.inputs, {
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
    const stop = (): void => void run.cancel({ reason: "sigint", graceMs: 0 });
    io.signal.addEventListener("abort", stop, { once: true });
    const log: ExecutionEvent[] = [];
    for await (const page of run.batches()) log.push(...page);
    io.signal.removeEventListener("abort", stop);
    if (waits !== undefined) {
      return { problems: [`"${waits}" waits for a person; answer it in confirm.json`] };
    }
    return judge(log, source.graph, world.filesRoot);
  } finally {
    await engine.close({ graceMs: 0 });
    await ai?.close();
    await world.close();
  }
}

/** Without a folder of fixtures the world is empty: whatever the flow asks of it is missing. */
async function worldOf(
  { fixtures }: FlowTest,
  options: Parameters<typeof openFixtures>[1],
): Promise<FixtureWorld> {
  if (fixtures !== undefined) return openFixtures(fixtures, options);
  const empty = await mkdtemp(join(tmpdir(), "millrace-fixtures-"));
  try {
    return await openFixtures(empty, options);
  } finally {
    await rm(empty, { recursive: true });
  }
}

function judge(log: readonly ExecutionEvent[], graph: FlowGraph, root: string): Outcome {
  const broken = checkLog(log, { graph });
  if (broken.length > 0) return { problems: broken.map(sentence) };
  return { text: golden(log, graph, root) };
}

function sentence(violation: Violation): string {
  const { invariant, seq, message } = violation;
  return clean(`the log breaks ${invariant} at seq ${seq}: ${message}`);
}
