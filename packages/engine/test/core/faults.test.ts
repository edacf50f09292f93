import { catalogEntryOf, defineNodeType, exit, jsonSchema, NodeError } from "@millrace/contracts";
import { createEngine, type NodeType } from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import { finish, kinds, of, one, outputOf, planOf, start } from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";
import { bodyType } from "./types.ts";

class Wrapped extends Promise<unknown> {}

const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;

let deep: unknown = null;
for (let i = 0; i < 200_000; i += 1) deep = [deep];

const THEN = "then";

/** What looks like a promise, made here because a literal with a `then` is a mistake everywhere else. */
function thenable(settle: (yes: (v: unknown) => void, no: (e: unknown) => void) => void): object {
  return Object.defineProperty({}, THEN, { value: settle });
}

/** An object whose property cannot be read. */
function unreadable(name: string): object {
  return Object.defineProperty({}, name, { get: () => raise(new Error("no")), enumerable: true });
}

/** Every record has a member more until the body has been answered for. */
function inheriting(): unknown {
  Object.defineProperty(Object.prototype, "more", {
    value: 1,
    enumerable: true,
    configurable: true,
  });
  queueMicrotask(() => Reflect.deleteProperty(Object.prototype, "more"));
  return { n: 1 };
}

const faults: [name: string, body: () => unknown, code: string][] = [
  ["throws an Error", () => raise(new Error("secret text")), "extension_threw"],
  ["throws undefined", () => raise(undefined), "extension_threw"],
  ["rejects late", async () => raise(await Promise.resolve("x")), "extension_threw"],
  ["throws a NodeError", () => raise(new NodeError("my_code", "mine")), "my_code"],
  ["has a then that throws", () => thenable(() => raise(new Error("no"))), "extension_threw"],
  ["has a then that cannot be read", () => unreadable("then"), "extension_threw"],
  ["returns a cycle", () => cyclic, "output_not_json"],
  ["returns a getter that throws", () => unreadable("x"), "output_not_json"],
  ["returns a Map", () => new Map(), "output_not_json"],
  ["returns 200,000 levels", () => deep, "output_too_deep"],
  ["returns 17 MiB", () => "x".repeat(17 * 1_048_576), "output_too_large"],
  ["leaves by a port that is not there", () => exit("nowhere", {}), "output_schema"],
  ["names no legal code", () => raise(new NodeError("Bad Code!", "x")), "extension_threw"],
  ["names no code", () => raise(new NodeError(undefined as never, "x")), "extension_threw"],
];

function raise(error: unknown): never {
  throw error;
}

describe("a body that", () => {
  test.each(faults)("%s fails its node and nothing else", async (_name, body, code) => {
    const type = bodyType("fault", body);
    const { events, summary } = await finish('node a: test.fault\nnode b: log { message = "b" }', {
      types: [type],
      run: { onFailure: "finish" },
    });
    expect(summary.error).toMatchObject({ code, node: "a", retryable: false });
    expect(outputOf(events, "b")).toEqual({});
    expect(JSON.stringify(events)).not.toContain("secret text");
  });

  test.each([
    ["status", { status: Number.NaN }],
    ["status", { status: -1 }],
    ["retryAfterMs", { retryAfterMs: Number.NaN }],
    ["retryAfterMs", { retryAfterMs: -1 }],
  ])(
    "fails with an impossible %s is tried again, and its events are legal",
    async (_name, more) => {
      const body = () => raise(new NodeError("my_code", "mine", { retryable: true, ...more }));
      const { events, summary } = await finish(
        "node a: test.fault {\n  @retry = { max: 1, delay: 1ms, jitter: false }\n}",
        { types: [bodyType("fault", body, { effect: "read" })] },
      );
      expect(summary.error).toEqual({
        code: "my_code",
        message: "mine",
        retryable: true,
        node: "a",
      });
      expect(one(events, "node.retrying")).toMatchObject({ delayMs: 1 });
    },
  );

  const fine: [name: string, body: () => unknown, output: unknown][] = [
    [
      "settles twice through a thenable",
      () =>
        thenable((yes, no) => {
          yes(1);
          yes(2);
          no(3);
        }),
      1,
    ],
    ["returns a subclass of Promise", () => new Wrapped((yes) => yes({ n: 1 })), { n: 1 }],
    ["returns a promise of a promise", () => Promise.resolve(thenable((yes) => yes(7))), 7],
    ["returns nothing", () => undefined, null],
    ["returns a BigInt", () => ({ n: 12n }), { n: 12 }],
    ["returns NaN", () => ({ n: Number.NaN }), { n: null }],
    [
      "returns whole and half characters",
      () => ({ "😀": "😀", h: "\ud83d" }),
      { "😀": "😀", h: "\ufffd" },
    ],
    ["returns a record while all records inherit a member", inheriting, { n: 1 }],
  ];
  test.each(fine)("%s has its output", async (_name, body, output) => {
    const { events } = await finish("node a: test.fine", { types: [bodyType("fine", body)] });
    expect(outputOf(events, "a")).toEqual(output);
  });

  test("keeps and changes what it returned changes nothing", async () => {
    const shared = { list: [1] };
    const keeps = bodyType("keeps", () => shared);
    const later = bodyType("later", () => {
      shared.list.push(2);
      return {};
    });
    const { events } = await finish(
      "node a: test.keeps\nnode b: test.later\nnode c: transform { value = a.list }\na -> b -> c",
      { types: [keeps, later] },
    );
    expect(outputOf(events, "c")).toEqual({ value: [1] });
  });

  test("changes its input is found when outputs are frozen", async () => {
    const mutates = bodyType("mutates", (fields) => {
      (fields["list"] as number[]).push(1);
      return {};
    });
    const { summary } = await finish(
      "node a: transform { value = [1] }\nnode b: test.mutates { list = a.value }",
      { types: [mutates] },
    );
    expect(summary.error).toMatchObject({ code: "extension_threw", node: "b" });
  });

  test("uses its context after the end is refused with attempt_over", async () => {
    let refused: unknown;
    const late = bodyType("late", (_fields, ctx) => {
      void Promise.resolve().then(() => {
        try {
          ctx.log("info", "too late");
        } catch (error) {
          refused = error;
        }
      });
      return {};
    });
    const { events } = await finish("node a: test.late\nnode d: delay { for = 1ms }", {
      types: [late],
    });
    expect(refused).toMatchObject({ code: "attempt_over" });
    expect(kinds(events, "a")).toEqual(["node.started", "node.succeeded"]);
  });

  test("is changed on the way to JSON leaves one warning for each kind of change", async () => {
    const odd = bodyType("odd", () => ({
      a: Number.NaN,
      b: Number.POSITIVE_INFINITY,
      c: 2n ** 70n,
    }));
    const { events } = await finish("node a: test.odd", { types: [odd] });
    const codes = of(events, "a").flatMap((e) => (e.kind === "log" ? [e.code] : []));
    expect(codes).toEqual(["json_not_finite", "json_bigint"]);
  });

  test("cancels its own run from within is cancelled like any other", async () => {
    const suicidal = bodyType("suicidal", () => {
      run.cancel({ graceMs: 0 });
      return { done: true };
    });
    const clock = createSimClock();
    const engine = createEngine({ host: clock });
    const plan = await planOf("node a: test.suicidal\nnode b: delay { for = 1h }\na -> b", {
      types: [suicidal],
    });
    const run = engine.run(plan);
    await clock.run();
    const summary = await run.result;
    expect(summary.status).toBe("cancelled");
    expect(summary.counts).toMatchObject({ cancelled: 1 });
  });
});

describe("what a body gets", () => {
  test("names, time, randomness, and a signal that is made when it is asked for", async () => {
    const look = bodyType("look", (_fields, ctx) => ({
      runId: ctx.runId,
      node: ctx.node,
      attempt: ctx.attempt,
      now: ctx.now(),
      random: typeof ctx.random(),
      aborted: ctx.signal.aborted,
      config: { ...ctx.config },
    }));
    const { clock, events, end } = await start("node a: test.look", {
      types: [look],
      run: { runId: "r1" },
    });
    await end();
    expect(outputOf(events, "a")).toEqual({
      runId: "r1",
      node: "a",
      attempt: 1,
      now: clock.now(),
      random: "number",
      aborted: false,
      config: {},
    });
  });

  test("sleep ends with its time, or with the run", async () => {
    const sleeper = bodyType("sleeper", async (_fields, ctx) => {
      await ctx.sleep(1_000);
      return { at: ctx.now() };
    });
    const { summary } = await finish("node a: test.sleeper", { types: [sleeper] });
    expect(summary.durationMs).toBe(1_000);
    const stopped = await start("node a: test.sleeper", { types: [sleeper] });
    stopped.run.cancel();
    const ended = await stopped.end();
    expect(ended).toMatchObject({ status: "cancelled", durationMs: 0 });
  });

  test("progress never falls, comes ten times a second at most, and its last value always", async () => {
    const steps = bodyType("steps", async (_fields, ctx) => {
      for (const done of [1, 3, 2, 4, 5]) {
        ctx.progress(done);
        await ctx.sleep(30);
      }
      return {};
    });
    const { events } = await finish("node a: test.steps", { types: [steps] });
    const done = of(events, "a").flatMap((e) => (e.kind === "node.progress" ? [e.done] : []));
    expect(done).toEqual([1, 5]);
  });

  test("files and network are refused where the host or the operator does not give them", async () => {
    const wants = bodyType("wants", async (fields, ctx) => {
      if (fields["what"] === "net") await ctx.fetch("https://a.example");
      else await ctx.files.read("a");
      return {};
    });
    const net = await finish('node a: test.wants { what = "net" }', { types: [wants] });
    expect(net.summary.error?.code).toBe("host_unsupported");
    const files = await finish('node a: test.wants { what = "files" }', { types: [wants] });
    expect(files.summary.error?.code).toBe("capability_denied");
  });

  test("step runs its function once for each key", async () => {
    const stepper = bodyType("stepper", async (_fields, ctx) => {
      const n = await ctx.step("one", () => 41);
      return { n: n + 1 };
    });
    const { events } = await finish("node a: test.stepper", { types: [stepper] });
    expect(outputOf(events, "a")).toEqual({ n: 42 });
  });

  test("a secret that is not declared is refused, a missing one is missing, a revealed one leaves no trace", async () => {
    const uses = defineNodeType<{ name: string }, unknown>({
      type: "test.uses",
      title: "x",
      summary: "x",
      effect: "pure",
      fields: jsonSchema({ type: "object" }),
      output: jsonSchema({}),
      needs: { secrets: ["API_KEY"] },
      run: async (fields, ctx) => {
        const key = await ctx.credentials.secret(fields.name);
        ctx.log("info", `using ${key.reveal()} and ${btoa(key.reveal())}`);
        return { key: key.reveal(), url: encodeURIComponent(key.reveal()), shown: `${key}` };
      },
    });
    const text = (name: string) => `node a: test.uses { name = "${name}" }`;
    const credentials = {
      secret: async (name: string) => (name === "API_KEY" ? "s3cret/value!" : undefined),
      resolve: () => Promise.reject(new Error("no")),
      renew: () => Promise.reject(new Error("no")),
    };
    const denied = await finish(text("OTHER"), { types: [uses], engine: { credentials } });
    expect(denied.summary.error?.code).toBe("capability_denied");
    const missing = await finish(text("API_KEY"), { types: [uses] });
    expect(missing.summary).toMatchObject({
      error: { code: "credentials_missing" },
      exitCode: 5,
    });
    const { events } = await finish(text("API_KEY"), { types: [uses], engine: { credentials } });
    expect(outputOf(events, "a")).toEqual({
      key: "[redacted]",
      url: "[redacted]",
      shown: "[secret]",
    });
    expect(one(events, "log", "a").text).toBe("using [redacted] and [redacted]");
  });
});

test("a thrown value that cannot even be looked at fails the node like any other", async () => {
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };
  for (const body of [
    () => {
      throw revoked();
    },
    () => Promise.reject(revoked()),
  ]) {
    const { events, summary } = await finish("node a: test.x", { types: [bodyType("x", body)] });
    expect(summary.status).toBe("failed");
    expect(one(events, "node.failed", "a").error.code).toBe("extension_threw");
  }
});

test("the output of a type that changes while its body works must fit what the type says at the end", async () => {
  const definition = bodyType("changing", () => ({}));
  let entry = catalogEntryOf(definition);
  const type: NodeType = {
    get entry() {
      return entry;
    },
    changes: true,
    run() {
      entry = { ...entry, output: { type: "object", required: ["x"] } };
      return {};
    },
  };
  const { summary } = await finish("node a: test.changing", { types: [type] });
  expect(summary.error).toMatchObject({ code: "output_schema", node: "a" });
});
