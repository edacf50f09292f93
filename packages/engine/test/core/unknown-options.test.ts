/** A misspelt option is refused by whatever takes options, with the name that was meant. */
import { parseFlow } from "@millrace/dsl";
import { compileFlow, createEngine, createRegistry, EngineError } from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import { graphOf, planOf } from "@millrace/test-support/flows";
import { expect, test } from "vitest";

const engine = createEngine();
const any = (options: object): never => options as never;
const plan = await planOf('node a: log { message = "x" }');

const cases: [name: string, call: () => unknown, unknown: string, meant: string][] = [
  ["createEngine", () => createEngine(any({ journel: {} })), "journel", "journal"],
  [
    "createEngine, egress",
    () => createEngine(any({ egress: { alow: [] } })),
    "egress.alow",
    "egress.allow",
  ],
  [
    "createEngine, files",
    () => createEngine(any({ files: { root: "/", readonly: true } })),
    "files.readonly",
    "files.readOnly",
  ],
  [
    "createEngine, concurrency",
    () => createEngine(any({ concurrency: { runs: 1 } })),
    "concurrency.runs",
    "concurrency.run",
  ],
  ["run", () => engine.run(plan, {}, any({ confrim() {} })), "confrim", "confirm"],
  ["run, the id", () => engine.run(plan, {}, any({ runID: "r" })), "runID", "runId"],
  ["batches", () => engine.run(plan).batches(any({ aftr: 1 })), "aftr", "after"],
  ["resume", () => engine.resume("r", any({ plan, timeout: 1 })), "timeout", "timeoutMs"],
  ["rerun", () => engine.rerun("r", any({ plan, onFailur: "stop" })), "onFailur", "onFailure"],
  ["createSimClock", () => createSimClock(any({ starts: 1 })), "starts", "start"],
  ["close", () => engine.close(any({ leav: true })), "leav", "leave"],
  [
    "compileFlow",
    () => compileFlow(graphOf(""), any({ registry: createRegistry(), subflow: {} })),
    "subflow",
    "subflows",
  ],
];

test("a limit that is none is refused by compileFlow, too", async () => {
  const compile = (limits: object) =>
    compileFlow(graphOf(""), { registry: createRegistry(), limits: any(limits) });
  await expect(compile({ noeds: 1 })).rejects.toThrow('options.limits has no "noeds"');
  await expect(compile({ nodes: "1" })).rejects.toThrow("options.limits.nodes must be 0 or more");
});

test.each(cases)("%s", async (_name, call, unknown, meant) => {
  const error = await (async () => call())().catch((thrown: unknown) => thrown);
  expect(String(error)).toContain(`unknown option "${unknown}"; did you mean "${meant}"?`);
});

test.each<[string, (given: never) => unknown, string]>([
  ["resume", (none) => engine.resume("r", none), "options.plan must be a plan"],
  ["rerun", (none) => engine.rerun("r", none), "options.plan must be a plan"],
  ["recover", (none) => engine.recover(none, none), "recover takes a store and a function"],
  ["compileFlow", (none) => compileFlow(none, none), "options.registry is missing"],
  ["createRegistry", (none) => createRegistry(none), "createRegistry takes a list"],
  ["createEngine", (none) => createEngine(none), "options must be an object"],
  ["run", (none) => engine.run(none), "options.plan must be"],
  ["batches", (none) => engine.run(plan).batches(none), "options must be an object"],
  ["cancel", (none) => engine.run(plan).cancel(none), "options must be an object"],
  ["close", (none) => createEngine().close(none), "options must be an object"],
])("null given to %s is named", async (_name, call, message) => {
  const error = await (async () => call(null as never))().catch((thrown: unknown) => thrown);
  expect(EngineError.isInstance(error), String(error)).toBe(true);
  expect(String(error)).toContain(message);
});

test("what is given in the place of something else is named", async () => {
  expect(() => createRegistry(any({}))).toThrow("createRegistry takes a list");
  expect(() => createRegistry([null as never])).toThrow("make it with defineNodeType");
  await expect(compileFlow(graphOf(""), any({}))).rejects.toThrow(
    "options.registry is missing: compileFlow(graph, { registry: createRegistry() })",
  );
  await expect(
    (compileFlow as never as (graph: object) => Promise<void>)(graphOf("")),
  ).rejects.toThrow("options.registry is missing");
  const compiled = await compileFlow(graphOf('node a: log { message = "x" }'), {
    registry: createRegistry(),
  });
  expect(() => engine.run(any(compiled))).toThrow(
    "must be `compiled.plan`; this is the whole result",
  );
  const { plan: none } = await compileFlow(graphOf("node a: nothing.here"), {
    registry: createRegistry(),
  });
  expect(none).toBeUndefined();
  expect(() => engine.run(none as never)).toThrow("`compiled.diagnostics` says why");
  const parsed = parseFlow('flow 1 x\nnode a: log { message = "x" }\n');
  await expect(compileFlow(any(parsed), { registry: createRegistry() })).rejects.toThrow(
    "compileFlow takes `parsed.graph`; this is the whole result of parseFlow",
  );
  expect(() => engine.run(plan).batches(any({ kinds: ["node.suceeded"] }))).toThrow(
    "options.kinds must be a list of kinds, each of EVENT_KINDS",
  );
});
