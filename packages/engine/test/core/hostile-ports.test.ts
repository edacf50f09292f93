import type { ControlContext } from "@millrace/contracts";
import type { CachePort, ConfirmHandler } from "@millrace/engine";
import { finish, of, one, outputOf, start } from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";
import { bodyType } from "./types.ts";

const CYCLE: { [name: string]: unknown } = {};
CYCLE["self"] = CYCLE;

/** A promise that is none of this platform's. */
function otherPromise(then: (yes: (answer: unknown) => void, no: () => void) => void): never {
  const name = "then";
  return { [name]: then } as never;
}

const ASK = `node c: confirm { prompt = "ok?" }
node n: transform { value = c.outcome }
c.approved -> n`;

describe("ports that answer what they must not", () => {
  test.each<[string, unknown]>([
    ["null", null],
    ["no output", { port: "out" }],
    ["a port that the node has not", { port: "left", output: {} }],
    ["what is no JSON", { port: "out", output: CYCLE }],
    ["text", "hit"],
  ])("a cache that finds %s is a miss with a warning", async (_name, found) => {
    const cache = { get: async () => found, set: async () => undefined } as unknown as CachePort;
    const flow = "node x: transform { value = 1\n@cache = { ttl: 60s } }";
    const { summary, events } = await finish(flow, { engine: { cache } });
    expect([summary.status, outputOf(events, "x")]).toEqual(["succeeded", { value: 1 }]);
    expect(one(events, "log").code).toBe("cache_failed");
  });

  test.each<[string, unknown]>([
    ["no decision", { decision: "perhaps" }],
    ["null", Promise.resolve(null)],
    [
      "a record that throws",
      Promise.resolve({
        get decision() {
          throw new Error("the handler's own");
        },
      }),
    ],
    ["a promise of another make that rejects", otherPromise((_, no) => no())],
  ])(
    "a confirm handler that gives %s leaves the question open and a warning",
    async (_name, given) => {
      const confirm = (() => given) as ConfirmHandler;
      const { run, end, events } = await start(ASK, { run: { confirm } });
      expect(one(events, "log").code).toBe("confirm_handler_failed");
      expect(await run.confirm("k1", { decision: "approve" })).toEqual({ ok: true });
      expect((await end()).status).toBe("succeeded");
    },
  );

  test("a confirm handler may answer with a promise of another make", async () => {
    const confirm = (() => otherPromise((yes) => yes({ decision: "approve" }))) as ConfirmHandler;
    const { summary, events } = await finish(ASK, { run: { confirm } });
    expect([summary.status, of(events, "n").length > 0]).toEqual(["succeeded", true]);
  });
});

test.each<[string, (ctx: ControlContext) => unknown]>([
  ["sleep", (ctx) => ctx.sleep(Number.NaN)],
  ["log", (ctx) => ctx.log("loud" as "info", "text")],
  ["log", (ctx) => ctx.log("info", null as unknown as string)],
  ["progress", (ctx) => ctx.progress(Number.NaN)],
  ["confirm", (ctx) => ctx.confirm("a", { prompt: undefined as unknown as string })],
  ["confirm", (ctx) => ctx.confirm("a", { prompt: "?", expiresInMs: Number.NaN })],
  ["confirm", (ctx) => ctx.confirm(7 as unknown as string, { prompt: "?" })],
  ["step", (ctx) => ctx.step(7 as unknown as string, () => 1)],
])(
  "a body that calls `%s` with what no event can carry fails, and its run ends",
  async (member, act) => {
    const type = bodyType("odd", async (_fields, ctx) => {
      await act(ctx);
      return {};
    });
    const { summary } = await finish("node x: test.odd", { types: [type] });
    expect(summary.error?.code).toBe("extension_threw");
    expect(summary.error?.message).toContain(`ctx.${member} takes `);
  },
);
