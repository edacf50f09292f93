/** What runs elsewhere: a flow from its text to its summary, with the core entries only. */
import type { ExecutionEvent } from "@millrace/contracts";
import { defineNodeType, jsonSchema, NodeError } from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";
import { compileFlow, createEngine, createRegistry } from "@millrace/engine";

const FLOW = `flow 1 portable
input names: string[] = ["ada", "grace", "edsger"]
output greetings: any[] = each.items
output rounds: int = grow.rounds
output answer: string = ask.value.word

node pause: delay { for = 5ms }
node each: map { items = inputs.names
  as = "name"
  body { node hello: test.later { text = "hello \${name}" }
    output = hello.text } }
node many: condition { if = size(each.items) > 2 }
node grow: loop { init = 1
  until = state > 100
  max = 20
  body { node twice: transform { value = state * 2 }
    output = twice.value } }
node ask: confirm { prompt = "Go on?"
  schema = { type: "object", properties: { word: { type: "string" } }, required: ["word"] } }
node both: join { @join = "all" }
node never: fail { message = "never" }

pause -> each -> many
many.true -> grow
many.true -> ask
many.false -> never
grow -> both
ask.approved -> both
`;

const later = defineNodeType({
  type: "test.later",
  title: "Later",
  summary: "Gives a text back after a while.",
  effect: "pure",
  fields: jsonSchema<{ text: string }>({
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
  }),
  output: jsonSchema<{ text: string }>({ type: "object" }),
  async run({ text }, ctx) {
    await ctx.sleep(1);
    if (ctx.signal.aborted) throw ctx.signal.reason;
    ctx.log("info", `said ${text}`);
    return { text };
  },
});

/** Status, outputs, and the events without what a clock decides, sorted because nodes run side by side. */
export async function runGuest(): Promise<{ status: string; outputs: unknown; lines: string[] }> {
  const { graph, diagnostics } = parseFlow(FLOW);
  if (diagnostics.length > 0) throw new Error(JSON.stringify(diagnostics));
  const compiled = await compileFlow(graph, { registry: createRegistry([later]) });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  const engine = createEngine();
  const run = engine.run(
    compiled.plan,
    {},
    { runId: "portable", confirm: () => ({ decision: "approve", value: { word: "yes" } }) },
  );
  const events: ExecutionEvent[] = [];
  for await (const batch of run.batches()) events.push(...batch);
  const { status, outputs } = await run.result;
  await engine.close();
  const untimed = events.filter(({ kind }) => kind !== "node.progress"); // at most ten a second
  return { status, outputs, lines: untimed.map(timeless).sort() };
}

const ENDLESS = `flow 1 endless
node ask: confirm { prompt = "?"
  @timeout = 1h }
node pause: delay { for = 1h }
node again: test.hour { fails = true
  @retry = { max: 1 } }
node each: map { items = range(20)
  @concurrency = 20
  body { node hello: test.hour { @timeout = 2h } } }
`;

/** Timers of every kind, cancelled in the middle of them: nothing of it is to keep its process alive. */
export async function cancelGuest(): Promise<{ status: string; started: number }> {
  const hour = defineNodeType({
    type: "test.hour",
    title: "Hour",
    summary: "Sleeps for an hour.",
    effect: "pure",
    fields: jsonSchema<{ fails?: boolean }>({ type: "object" }),
    output: jsonSchema<{ slept: boolean }>({ type: "object" }),
    async run({ fails }, ctx) {
      if (fails === true) throw new NodeError("busy", "not now", { retryable: true });
      await ctx.sleep(3_600_000);
      return { slept: true };
    },
  });
  const { graph, diagnostics } = parseFlow(ENDLESS);
  if (diagnostics.length > 0) throw new Error(JSON.stringify(diagnostics));
  const compiled = await compileFlow(graph, { registry: createRegistry([hour]) });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  const run = createEngine().run(compiled.plan, {}, { onFailure: "finish" });
  let started = 0;
  for await (const batch of run.batches()) {
    started += batch.filter(({ kind }) => kind === "node.started").length;
    if (started >= 24) run.cancel();
  }
  return { status: (await run.result).status, started };
}

const CLOCKED = new Set(["seq", "ts", "durationMs", "startedAt", "finishedAt", "until", "at"]);

function timeless(event: ExecutionEvent): string {
  return JSON.stringify(event, (key, value) => (CLOCKED.has(key) ? undefined : value));
}
