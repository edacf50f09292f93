/** Takes up every run that a process has left, as a program does at its start. */
import type { FlowGraph, RunHeader } from "@millrace/contracts";
import type { CompileResult } from "../../compile/compile-flow.ts";
import { EngineError } from "../../errors.ts";
import { has } from "../../option-rules.ts";
import type { RunOptions } from "../../options.ts";
import type { Run } from "../run.ts";

/** The part of a store that knows which runs have not ended: `runs` of `openStore` is one. */
export interface RunsOfStore {
  readonly runs: {
    live(): readonly string[] | Promise<readonly string[]>;
    header(runId: string): RunHeader | null | Promise<RunHeader | null>;
  };
}

/** Compiles the flow that a run was started with: `(graph) => compileFlow(graph, { registry })`. */
export type CompileRun = (
  graph: FlowGraph,
  header: RunHeader,
) => CompileResult | Promise<CompileResult>;

/** Runs by outcome of the recovery. */
export interface Recovered {
  /** At work again. */
  readonly runs: readonly Run[];
  /** Their flow no longer compiles, or is another one: they were ended with code `resume_impossible`. */
  readonly givenUp: readonly { readonly runId: string; readonly message: string }[];
  /** A living process works on them, or they have ended meanwhile: they were left alone. */
  readonly left: readonly string[];
}

/** The functions of the engine that the recovery needs. */
interface Resumes {
  resume(runId: string, options: { readonly plan: never } & RunOptions): Promise<Run>;
  giveUp(runId: string, message: string): Promise<void>;
}

/**
 * Resumes every run of the store that has not ended, one after the other. Throws `input_invalid` for anything but a store and a
 * function that compiles.
 */
export async function recoverRuns(
  engine: Resumes,
  store: RunsOfStore,
  compile: CompileRun,
  options: RunOptions,
): Promise<Recovered> {
  if (!has("live", "header")(store?.runs) || typeof compile !== "function") {
    throw new EngineError(
      "input_invalid",
      "recover takes a store and a function: engine.recover(store, (graph) => compileFlow(graph, { registry }))",
    );
  }
  const runs: Run[] = [];
  const givenUp: { readonly runId: string; readonly message: string }[] = [];
  const left: string[] = [];
  for (const runId of await store.runs.live()) {
    const header = await store.runs.header(runId);
    if (header === null) continue;
    try {
      const compiled = await compile(header.graph, header);
      const first = compiled.diagnostics.find(({ severity }) => severity === "error");
      if (compiled.ok) {
        runs.push(await engine.resume(runId, { ...options, plan: compiled.plan as never }));
      } else {
        const message = `the flow no longer compiles: ${first?.message ?? "it has errors"}`;
        await engine.giveUp(runId, message);
        givenUp.push({ runId, message });
      }
    } catch (error) {
      const code = EngineError.isInstance(error) ? error.code : undefined;
      if (code === "run_not_resumable") left.push(runId);
      else if (code === "plan_mismatch") {
        const message = "the flow, or a flow in it, is not the one that the run was started with";
        await engine.giveUp(runId, message);
        givenUp.push({ runId, message });
      } else throw error;
    }
  }
  return { runs, givenUp, left };
}
