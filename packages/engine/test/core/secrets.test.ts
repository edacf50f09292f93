/** Secrets that a run knows, in texts that were cut, after an interruption, in other runs, and in a run that repeats another. */

import {
  type ControlContext,
  defineNodeType,
  type ExecutionEvent,
  type FlowGraph,
  type Json,
  jsonSchema,
  NodeError,
  type NodeTypeDefinition,
} from "@millrace/contracts";
import { createEngine, createMemoryJournal, type EngineOptions } from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import { finish, graphOf, outputOf, planOf } from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";
import { Redactor } from "../../src/run/redact.ts";
import { bodyType } from "./types.ts";

const KEY = "canary-key-4711-abcdefgh";

/** A type that answers with the secret `MY_KEY`. */
const teller = defineNodeType<Record<string, unknown>, unknown>({
  type: "test.tell",
  title: "Tell",
  summary: "Answers with a secret.",
  fields: jsonSchema({ type: "object" }),
  output: jsonSchema({}),
  effect: "pure",
  needs: { secrets: ["MY_KEY"] },
  run: (async (_fields: unknown, ctx: ControlContext) => {
    return { value: (await ctx.credentials.secret("MY_KEY")).reveal() };
  }) as never,
}) as NodeTypeDefinition;

const credentials = {
  secret: async () => KEY,
  resolve: async () => {
    throw new Error("no connection");
  },
  renew: async () => {
    throw new Error("no connection");
  },
} as unknown as NonNullable<EngineOptions["credentials"]>;

const TELLS = `node a: test.tell
node d: delay { for = 1h }
node b: transform { value = a.value }
a -> d
d -> b
output n: any = size(b.value)`;

function secretInput(text: string): FlowGraph {
  const schema = { type: "string", writeOnly: true };
  return { ...graphOf(text), inputs: [{ name: "key", schema }] };
}

const textOf = (events: readonly ExecutionEvent[]): string => JSON.stringify(events);

describe("a redactor", () => {
  const redactor = new Redactor();
  redactor.add(KEY);

  test.each([
    ["the beginning of a secret at the end", `preview: ${KEY.slice(0, 12)}`, "preview: [redacted]"],
    ["the end of a secret at the beginning", `${KEY.slice(-10)} and more`, "[redacted] and more"],
    ["both", `${KEY.slice(-9)}, ${KEY.slice(0, 9)}`, "[redacted], [redacted]"],
    ["the beginning of its base64", btoa(KEY).slice(0, 14), "[redacted]"],
    ["too little to tell", `${KEY.slice(0, 7)}`, KEY.slice(0, 7)],
    ["another text", "canary in a coal mine", "canary in a coal mine"],
  ])("takes %s", (_name, text, shown) => {
    expect(redactor.clean(text)).toBe(shown);
  });

  test("takes each line of a secret of several lines, and a number", () => {
    const more = new Redactor();
    more.add("-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\nshort\n");
    more.add("471147");
    expect(more.clean({ line: "MIIEvQIBADANBgkqhkiG9w0BAQ", pin: 471_147, n: 1 } as Json)).toEqual({
      line: "[redacted]",
      pin: "[redacted]",
      n: 1,
    });
  });

  test("remembers the newest of those that all runs share", () => {
    const shared = new Redactor(null, 2);
    const own = new Redactor(shared);
    for (const secret of ["first-secret", "second-secret", "third-secret"]) shared.add(secret);
    own.add("own-secret");
    expect(own.clean("first-secret second-secret third-secret own-secret")).toBe(
      "first-secret [redacted] [redacted] [redacted]",
    );
  });
});

test("a text that is cut inside a secret shows no part of it", async () => {
  const long = bodyType("long", (_fields, ctx) => {
    ctx.log("info", "x".repeat(16_370) + KEY);
    throw new NodeError("broken", "m".repeat(2_030) + KEY);
  });
  const graph = secretInput(`node a: test.long { @on-error = "port" }
node b: transform { value = ["${"y".repeat(100)}", inputs.key, "${"z".repeat(70_000)}"] }`);
  const { events } = await finish(graph, { inputs: { key: KEY }, types: [long] });
  expect(textOf(events)).toContain("[redacted]");
  expect(textOf(events)).not.toContain(KEY.slice(0, 10));
});

test("after an interruption a credential stays hidden, though no step resolves it again", async () => {
  const plan = await planOf(TELLS, { types: [teller] });
  const clock = createSimClock();
  const journal = createMemoryJournal({ now: clock.now });
  const options = { host: clock, journal, credentials };
  const first = createEngine(options);
  first.run(plan, {}, { runId: "r" }).result.catch(() => undefined);
  await clock.settle();
  await first.close({ leave: true });
  const again = await createEngine(options).resume("r", { plan });
  const events: ExecutionEvent[] = [];
  const reading = (async () => {
    for await (const batch of again.batches()) events.push(...[batch].flat());
  })();
  await clock.advance(3_600_000);
  await clock.run();
  expect((await again.result).outputs).toEqual({ n: KEY.length });
  await reading;
  expect(outputOf(events, "b")).toEqual({ value: "[redacted]" });
  expect(textOf(events)).not.toContain(KEY);
});

test("a credential that one run has used is hidden in the runs of the same engine", async () => {
  const engine = createEngine({ credentials });
  const tells = await planOf("node a: test.tell", { types: [teller] });
  await engine.run(tells).result;
  const says = await planOf(`node b: transform { value = "${KEY}" }\noutput s: any = b.value`);
  expect((await engine.run(says).result).outputs).toEqual({ s: "[redacted]" });
});

test("an engine takes the credentials of its runs out of what is shown elsewhere", async () => {
  const engine = createEngine({ credentials });
  const shown = { text: `key ${KEY}`, n: 1 };
  expect(engine.mask(shown)).toBe(shown);
  await engine.run(await planOf("node a: test.tell", { types: [teller] })).result;
  expect(engine.mask(shown)).toEqual({ text: "key [redacted]", n: 1 });
});

test("a repeated run does not take over an output whose secret has gone with the first run", async () => {
  const graph = secretInput(`node a: transform { value = inputs.key }
node c: transform { value = 1 }
node b: test.broken {}
a -> b
c -> b`);
  const broken = bodyType("broken", () => {
    throw new NodeError("broken", "always");
  });
  const plan = await planOf(graph, { types: [broken] });
  const engine = createEngine({ journal: createMemoryJournal() });
  const first = engine.run(plan, { key: KEY }, { runId: "r" });
  expect((await first.result).status).toBe("failed");
  const second = await engine.rerun("r", { plan });
  const events: ExecutionEvent[] = [];
  for await (const batch of second.batches()) events.push(...[batch].flat());
  const cached = events.filter((e) => e.kind === "node.succeeded" && e.cached === true);
  expect(cached).toMatchObject([{ node: "c" }]);
});

test("a run that is resumed stands as it stood, however slow the store is; what the store threw is not quoted", async () => {
  const plan = await planOf(`node k: confirm { prompt = "send?" }
node call: http.request {
  url = "https://shop.example"
  headers = { x-key: secrets.shop_key }
}
k.approved -> call`);
  const before = createSimClock();
  const journal = createMemoryJournal({ now: before.now });
  const first = createEngine({ host: before, journal, credentials });
  first.run(plan, {}, { runId: "r" }).result.catch(() => undefined);
  await before.settle();
  await first.close({ leave: true });
  let fail = (_error: unknown): void => undefined;
  const reading = new Promise<string>((_resolve, reject) => {
    fail = reject;
  });
  const clock = createSimClock({ start: before.now() });
  const slow = { ...credentials, secret: () => reading };
  const resuming = createEngine({ host: clock, journal, credentials: slow }).resume("r", { plan });
  await clock.settle();
  fail(new SyntaxError(`"${KEY}" is not JSON`));
  const run = await resuming;
  expect([run.state, run.confirmations().map(({ id }) => id)]).toEqual(["paused", ["k1"]]);
  expect(await run.confirm("k1", { decision: "approve" })).toEqual({ ok: true });
  await clock.run();
  const { status, error } = await run.result;
  expect([status, error?.code]).toEqual(["failed", "unavailable"]);
  expect(error?.message).toContain("the secret shop_key could not be read");
  expect(JSON.stringify(error)).not.toContain(KEY);
});
