/** Runs whose bodies keep what they were given. */
import type { ExecutionEvent, Json, JsonObject, RunHeader } from "@millrace/contracts";
import {
  createEngine,
  createMemoryJournal,
  type NodeInputs,
  type Plan,
  type RecordedRun,
  type RunOptions,
  readNodeInputs,
  type SubflowPort,
} from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import { planOf } from "@millrace/test-support/flows";
import { bodyType } from "./types.ts";

export interface Seen {
  readonly node: string;
  readonly attempt: number;
  readonly fields: JsonObject;
}

/** A type that keeps what its bodies are given, fails as often as `fails` says, and answers `value`. */
export function recorder(seen: Seen[]) {
  return bodyType("work", async (fields, ctx) => {
    seen.push({ node: ctx.node, attempt: ctx.attempt, fields: fields as JsonObject });
    await ctx.sleep(7);
    if (ctx.attempt <= Number(fields["fails"] ?? 0)) throw new Error("not yet");
    return { value: (fields["value"] ?? null) as Json };
  });
}

export interface Recorded {
  readonly run: RecordedRun;
  readonly seen: readonly Seen[];
  readonly events: readonly ExecutionEvent[];
  read(node: string, attempt?: number): Promise<NodeInputs | null>;
}

/** A run that has ended, and what its bodies were given. */
export async function recorded(
  text: string,
  inputs: JsonObject = {},
  { subflows, options }: { subflows?: SubflowPort; options?: RunOptions } = {},
): Promise<Recorded> {
  const seen: Seen[] = [];
  const clock = createSimClock();
  const journal = createMemoryJournal({ now: clock.now });
  const engine = createEngine({ host: clock, journal });
  const setup = { types: [recorder(seen)], ...(subflows && { subflows }) };
  const plan: Plan = await planOf(text, setup);
  const run = engine.run(plan, inputs, { runId: "r", ...options });
  const events: ExecutionEvent[] = [];
  const reading = (async () => {
    for await (const batch of run.batches()) events.push(...batch);
  })();
  await clock.run();
  await run.result;
  await reading;
  const header = (await journal.load("r", { private: false })) as RunHeader;
  const past = { journal, header, plan };
  const read = (node: string, attempt?: number) => readNodeInputs(past, { node, attempt });
  return { run: past, seen, events, read };
}
