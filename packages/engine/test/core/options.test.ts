import {
  compileFlow,
  createEngine,
  createMemoryJournal,
  createRegistry,
  EngineError,
  type EngineOptions,
  type Plan,
  type RunCancelOptions,
  type RunOptions,
} from "@millrace/engine";
import { graphOf, planOf } from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";

const awaited: Plan = await planOf("node x: transform { value = 1 }\noutput o = x.value");

/** What `act` throws; fails when it does not. */
function refusal(act: () => unknown): EngineError {
  try {
    act();
  } catch (error) {
    if (EngineError.isInstance(error)) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

test("a member of a rule that is undefined counts as absent", () => {
  const allow = [
    { cidr: "10.0.0.0/8", host: undefined, port: undefined },
    { cidr: undefined, host: "db.example", port: undefined },
  ];
  expect(() => createEngine({ egress: { allow } } as never)).not.toThrow();
});

describe("what code without types may say", () => {
  test.each<[string, unknown]>([
    ["signal", {}],
    ["confirm", "yes"],
    ["onFailure", "explode"],
    ["timeoutMs", Number.NaN],
    ["trigger", "cron"],
    ["template", 7],
    ["tags", { a: 7 }],
    ["limits", { events: "7" }],
    ["limits", { evnets: 7 }],
    ["only", "x"],
    ["pins", { x: null }],
    ["pins", { x: { port: "out" } }],
    ["runId", "a b"],
  ])(
    "an option `%s` of a run that it cannot be is refused by name, and leaves nothing behind",
    async (name, value) => {
      const engine = createEngine();
      const error = refusal(() => engine.run(awaited, {}, { [name]: value } as RunOptions));
      expect(error.code).toBe("input_invalid");
      expect(error.message).toContain(`options.${name}`);
      await engine.close();
    },
  );

  test.each<[string, EngineOptions]>([
    ["host", { host: {} } as unknown as EngineOptions],
    ["journal", { journal: {} } as unknown as EngineOptions],
    ["services", { services: {} } as unknown as EngineOptions],
    ["limits.depth", { limits: { depth: Number.NaN } }],
    // A policy that is passed over would be one that does not hold.
    ["egress.deny.0", { egress: { deny: [{ host: "db.example", prot: 5432 }] } } as never],
    ["egress.deny.0", { egress: { deny: [{ host: "db.example", port: "5432" }] } } as never],
    ["egress.allow.0", { egress: { allow: [{ cidr: "10.0.0.0/8", port: 443 }] } } as never],
    ["egress.allow", { egress: { allow: "*" } } as never],
    ["egress.only", { egress: { only: "api.example" } } as never],
    ["egress.maxResponseBytes", { egress: { maxResponseBytes: "5 MiB" } } as never],
    ["egress.connectMs", { egress: { connectMs: "5s" } } as never],
    ["egress.perHost", { egress: { perHost: { "api.example": 1 } } } as never],
    ["files.readOnly", { files: { root: "/data", readOnly: "no" } } as never],
    ["files.maxBytes", { files: { root: "/data", maxBytes: "5 MiB" } } as never],
    ["files.root", { files: { root: 5 } } as never],
    ["shell.env", { shell: { programs: {}, env: "PATH" } } as never],
    ["concurrency.run", { concurrency: { run: 0 } }],
    ["concurrency.types", { concurrency: { types: { ai: -1 } } }],
  ])("an engine with an impossible `%s` is not made: its runs would never end", (name, options) => {
    const error = refusal(() => createEngine(options));
    expect([error.code, error.message.includes(name)]).toEqual(["input_invalid", true]);
  });

  test.each<[string, unknown]>([
    ["note", 7],
    ["by", {}],
    ["reason", "boredom"],
    ["graceMs", Number.NaN],
  ])("a cancel with an impossible `%s` is refused, and the run goes on", async (name, value) => {
    const run = createEngine().run(awaited);
    expect(refusal(() => run.cancel({ [name]: value } as RunCancelOptions)).code).toBe(
      "input_invalid",
    );
    expect((await run.result).status).toBe("succeeded");
  });

  test.each([
    ["a Map", new Map([["x", 1]])],
    ["URLSearchParams", new URLSearchParams("x=1")],
    ["a list", [1]],
  ])("%s is no record of inputs", (_name, inputs) => {
    const engine = createEngine();
    const error = refusal(() => engine.run(awaited, inputs as never));
    expect(error.message).toBe("inputs must be an object by input name");
  });

  test("what is no plan is refused by all that take one", async () => {
    const engine = createEngine({ journal: createMemoryJournal() });
    const plan = {} as Plan;
    expect(refusal(() => engine.run(plan)).message).toContain("compileFlow");
    expect(refusal(() => engine.checkInputs(plan, {})).code).toBe("input_invalid");
    await expect(engine.resume("a", { plan })).rejects.toMatchObject({ code: "input_invalid" });
    await expect(engine.rerun("a", { plan })).rejects.toMatchObject({ code: "input_invalid" });
  });

  test("a called flow that is no graph is a diagnostic at the place that calls it", async () => {
    for (const graph of [undefined, null, 7, { version: 1, nodes: 7 }]) {
      const calling = graphOf('node s: subflow { flow = "called" }');
      const result = await compileFlow(calling, {
        registry: createRegistry(),
        subflows: { get: async () => ({ graph, digest: "" }) as never },
      });
      expect(result).toMatchObject({
        ok: false,
        diagnostics: [{ code: "FLOW4010", pointer: "/nodes/0/fields/flow" }],
      });
    }
  });
});
