/** The short way in: one call, single events, an engine that closes itself. */
import { assertLog, type ExecutionEvent } from "@millrace/contracts";
import { createEngine, createMemoryJournal, EngineError, runFlow } from "@millrace/engine";
import { graphOf, planOf } from "@millrace/test-support/flows";
import { expect, test } from "vitest";
import { bodyType } from "./types.ts";

const TEXT = 'flow 1 hello\ninput who: string\noutput text: string = "Hello, ${inputs.who}"';

test("a text runs with its inputs, and its events are read while it runs", async () => {
  const { events, result } = runFlow(TEXT, { who: "Ada" });
  const log: ExecutionEvent[] = [];
  for await (const event of events) log.push(event);
  assertLog(log);
  expect((await result).outputs).toEqual({ text: "Hello, Ada" });
  const again: number[] = [];
  for await (const { seq } of events) again.push(seq);
  expect(again).toEqual(log.map(({ seq }) => seq));
});

test("a graph runs with types and options of the caller", async () => {
  const twice = bodyType("twice", ({ n }) => ({ n: Number(n) * 2 }));
  const graph = graphOf("input n: int\nnode t: test.twice { n = inputs.n }\noutput n = t.n");
  const options = { types: [twice], runId: "mine", engine: { freeze: true } };
  const summary = await runFlow(graph, { n: 4 }, options).result;
  expect([summary.runId, summary.outputs]).toEqual(["mine", { n: 8 }]);
});

test.each([
  ["text that is no flow", "flow 1 x\nnode a: {", "flow_invalid"],
  ["a type that is not there", "flow 1 x\nnode a: nothing.here {}", "flow_invalid"],
  ["an input that is missing", TEXT, "input_invalid"],
])("%s is told to both readers, with where it is", async (_, text, code) => {
  const { events, result } = runFlow(text);
  const error: unknown = await result.catch((thrown: unknown) => thrown);
  expect(EngineError.isInstance(error) && [error.code, error.diagnostics.length > 0]).toEqual([
    code,
    true,
  ]);
  await expect(events[Symbol.asyncIterator]().next()).rejects.toBe(error);
});

test("whoever reads events alone leaves no rejection behind", async () => {
  const { events } = runFlow("no flow");
  await expect(events[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: "flow_invalid",
  });
});

test("a run is read one event at a time, by any number of readers", async () => {
  const engine = createEngine();
  const run = engine.run(await planOf(TEXT), { who: "Ada" });
  const kinds = async (): Promise<string[]> => {
    const found: string[] = [];
    for await (const { kind } of run) found.push(kind);
    return found;
  };
  const [one, other] = await Promise.all([kinds(), kinds()]);
  expect([one, one]).toEqual([other, ["run.started", "summary"]]);
  for await (const { kind } of run) if (kind === "run.started") break;
  await engine.close();
});

test("disposing an engine closes it", async () => {
  const engine = createEngine();
  const run = engine.run(await planOf("node wait: delay { for = 1h }"));
  await engine[Symbol.asyncDispose]();
  expect((await run.result).status).toBe("cancelled");
  expect(() => engine.run({} as never)).toThrow(expect.objectContaining({ code: "engine_closed" }));
});

test("a run that is refused leaves no engine behind", async () => {
  let watchers = 0;
  const journal = createMemoryJournal();
  const watched = {
    ...journal,
    watchRoom: () => {
      watchers += 1;
      return () => {
        watchers -= 1;
      };
    },
  };
  const { result } = runFlow(TEXT, { nobody: 1 }, { engine: { journal: watched } });
  await expect(result).rejects.toMatchObject({ code: "input_invalid" });
  expect(watchers).toBe(0);
});
