/** Reads the two runs of a comparison, one after the other: a page has few connections. */
import type { ExecutionEvent, FlowGraph, Json, Run, RunInputs } from "@millrace/contracts";
import { backend } from "../../backend.ts";
import { loadValue } from "../../state/load-value.ts";
import { createFactsReader, outcomeValue, type RunFacts } from "./run-facts.ts";

/** One side. */
export interface Side {
  readonly run: Run;
  readonly inputs: RunInputs;
  readonly facts: RunFacts;
}

/** Both sides, and the flow texts where they differ. */
export interface Sides {
  readonly a: Side;
  readonly b: Side;
  readonly texts?: { readonly a: string; readonly b: string };
}

/** Reads both runs with their logs up to now. */
export async function readSides(a: string, b: string, signal: AbortSignal): Promise<Sides> {
  const sides = { a: await readSide(a, signal), b: await readSide(b, signal) };
  if (sides.a.run.flow.hash === sides.b.run.flow.hash) return sides;
  const { printFlow } = await import("../../flow-text.ts");
  const textOf = async (runId: string): Promise<string> =>
    printFlow((await backend.invoke("get_run_graph", { runId })) as FlowGraph);
  return { ...sides, texts: { a: await textOf(a), b: await textOf(b) } };
}

async function readSide(runId: string, signal: AbortSignal): Promise<Side> {
  const [run, inputs] = await Promise.all([
    backend.invoke("get_run", { runId }, { signal }),
    backend.invoke("get_run_inputs", { runId }, { signal }),
  ]);
  const reader = createFactsReader();
  if (run.lastSeq > 0) {
    for await (const event of backend.runEvents(runId, { signal })) {
      reader.add(event);
      if (event.seq >= run.lastSeq) break;
    }
  }
  return { run, inputs, facts: reader.facts() };
}

/** The whole outcome of a node in a run; undefined: none. */
export async function readOutcome(runId: string, node: string): Promise<Json | undefined> {
  const kinds = ["node.succeeded", "node.failed"] as const;
  let last: Extract<ExecutionEvent, { kind: (typeof kinds)[number] }> | undefined;
  let after = 0;
  for (;;) {
    const page = await backend.invoke("get_run_events", {
      runId,
      node,
      kinds: [...kinds],
      limit: 200,
      after,
    });
    for (const event of page.items as readonly ExecutionEvent[]) {
      if (event.kind === "node.succeeded" || event.kind === "node.failed") last = event;
    }
    if (page.nextCursor === null) break;
    after = Number(page.nextCursor);
  }
  if (last === undefined) return undefined;
  const { outputRef } = last;
  if (outputRef === undefined || outputRef.ref === "") return outcomeValue(last);
  return outcomeValue({ ...last, output: await loadValue(runId, outputRef) });
}
