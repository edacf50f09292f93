import {
  checkLog,
  type ExecutionEvent,
  type Journal,
  parseEvent,
  parseEventStrict,
  serialiseEvent,
} from "@millrace/contracts";
import { createEngine, createMemoryJournal, type EngineError } from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import { kinds, planOf, start } from "@millrace/test-support/flows";
import { describe, expect, test, vi } from "vitest";
import { bodyType } from "./types.ts";

async function stored(journal: Journal, runId: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const page of journal.read(runId, 0)) {
    lines.push(...page.map(({ line }) => new TextDecoder().decode(line)));
  }
  return lines;
}

/** A journal whose appends wait until the test lets them through. */
function gated(now: () => number) {
  const inner = createMemoryJournal({ now });
  const waiting: (() => void)[] = [];
  const seen: { sync: boolean; kinds: string[] }[] = [];
  const journal: Journal = {
    ...inner,
    async append(runId, expectedSeq, events, options) {
      seen.push({ sync: options.sync, kinds: events.map(({ kind }) => kind) });
      await new Promise<void>((pass) => waiting.push(pass));
      return inner.append(runId, expectedSeq, events, options);
    },
  };
  const pass = () => {
    for (const each of waiting.splice(0)) each();
  };
  return { journal, pass, seen, inner };
}

test("the journal holds the lines of the log, in order, and readers see the same", async () => {
  const clock = createSimClock();
  const journal = createMemoryJournal({ now: clock.now });
  const { run, events, end } = await start(
    'node a: delay { for = 5ms }\nnode m: map { items = [1, "zwölf 十二"]\n body { node t: transform { value = item } } }',
    { engine: { host: clock, journal } },
  );
  await clock.run();
  await run.result;
  expect(await stored(journal, run.id)).toEqual(events.map(serialiseEvent));
  const parsed = (await stored(journal, run.id)).map((line) => parseEventStrict(line));
  expect(checkLog(parsed)).toEqual([]);
  await end();
});

test("a start says the digest of its fields when there is a journal", async () => {
  const clock = createSimClock();
  const journal = createMemoryJournal({ now: clock.now });
  const { events, run } = await start("node a: transform { value = 1 }", {
    engine: { host: clock, journal },
  });
  await clock.run();
  await run.result;
  expect(events.find((e) => e.kind === "node.started")).toMatchObject({
    inputs: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
  });
});

describe("order", () => {
  test("readers see an event only when it is stored, one batch is on its way at a time", async () => {
    const clock = createSimClock();
    const { journal, pass, seen } = gated(clock.now);
    const { run, events } = await start("node a: delay { for = 5ms }", {
      engine: { host: clock, journal },
    });
    expect(kinds(events)).toEqual([]);
    expect(run.seq).toBe(0);
    await clock.advance(5);
    expect(seen).toHaveLength(1);
    pass();
    await clock.settle();
    expect(kinds(events)).toEqual(["run.started", "node.started", "node.waiting"]);
    expect(seen[1]).toEqual({
      sync: true,
      kinds: ["node.resumed", "node.succeeded", "summary"],
    });
    pass();
    await clock.settle();
    expect((await run.result).status).toBe("succeeded");
    expect(events).toHaveLength(6);
  });

  test("a body that writes enters only when its start is stored; one that reads does not wait", async () => {
    const entered: string[] = [];
    const note = (name: string) => () => {
      entered.push(name);
      return {};
    };
    const types = [
      bodyType("reads", note("reads"), { effect: "read" }),
      bodyType("writes", note("writes"), { effect: "write" }),
      bodyType("destroys", note("destroys"), { effect: "destructive" }),
    ];
    const clock = createSimClock();
    const { journal, pass } = gated(clock.now);
    const { run } = await start("node a: test.reads\nnode b: test.writes\nnode c: test.destroys", {
      types,
      engine: { host: clock, journal },
    });
    expect(entered).toEqual(["reads"]);
    pass();
    await clock.settle();
    expect(entered).toEqual(["reads", "writes", "destroys"]);
    pass();
    await clock.settle();
    expect((await run.result).status).toBe("succeeded");
  });

  test("a batch of log lines alone need not be synced at once", async () => {
    const chatty = bodyType("chatty", async (_fields, ctx) => {
      await ctx.sleep(1);
      ctx.log("info", "x");
      await ctx.sleep(1);
      return {};
    });
    const clock = createSimClock();
    const { journal, pass, seen } = gated(clock.now);
    await start("node a: test.chatty", { types: [chatty], engine: { host: clock, journal } });
    pass();
    await clock.advance(1);
    expect(seen[1]).toEqual({ sync: false, kinds: ["log"] });
    pass();
    await clock.advance(1);
    pass();
    await clock.settle();
  });

  test("an answer is given only when it is stored", async () => {
    const clock = createSimClock();
    const { journal, pass } = gated(clock.now);
    const { run } = await start('node k: confirm { prompt = "?" }', {
      engine: { host: clock, journal },
    });
    pass();
    await clock.settle();
    pass();
    await clock.settle();
    let told = false;
    const reply = run.confirm("k1", { decision: "approve" }).then(() => {
      told = true;
    });
    await clock.settle();
    expect(told).toBe(false);
    pass();
    await reply;
    pass();
    await clock.settle();
    expect((await run.result).status).toBe("succeeded");
  });
});

describe("a journal that fails", () => {
  async function failing(code: string, at: number) {
    const clock = createSimClock();
    const inner = createMemoryJournal({ now: clock.now });
    let appends = 0;
    const journal: Journal = {
      ...inner,
      async append(...args) {
        appends += 1;
        if (appends === at) throw Object.assign(new Error("disk"), { code });
        return inner.append(...args);
      },
    };
    let aborted = false;
    const watch = bodyType("watch", (_fields, ctx) => {
      ctx.signal.addEventListener("abort", () => {
        aborted = true;
      });
      return new Promise(() => undefined);
    });
    const { run, events } = await start("node w: test.watch\nnode d: delay { for = 5ms }", {
      types: [watch],
      engine: { host: clock, journal },
    });
    const result = run.result.catch((error: EngineError) => error.code);
    await clock.run();
    return { code: await result, events, aborted, appends: () => appends, clock, journal, run };
  }

  test.each([
    ["store_unavailable", "journal_failed"],
    ["lease_lost", "lease_lost"],
  ])(
    "with %s stops the bodies and rejects the result with %s; nothing more is written",
    async (code, want) => {
      const failed = await failing(code, 2);
      expect(failed.code).toBe(want);
      expect(failed.aborted).toBe(true);
      expect(kinds(failed.events)).toEqual([
        "run.started",
        "node.started",
        "node.started",
        "node.waiting",
      ]);
      expect(failed.appends()).toBe(2);
      expect(failed.clock.pending).toBe(0);
      expect(await stored(failed.journal, failed.run.id)).toHaveLength(4);
    },
  );

  test("is one that gets no batch, too: events that cannot be written down end the run", async () => {
    const utf8 = new TextEncoder();
    const encode = utf8.encode.bind(utf8);
    const spy = vi.spyOn(TextEncoder.prototype, "encode").mockImplementation((text = "") => {
      if (text.includes('"kind":"node.resumed"')) throw new RangeError("Invalid string length");
      return encode(text);
    });
    try {
      const failed = await failing("none", 0);
      expect(failed.code).toBe("journal_failed");
      expect(failed.aborted).toBe(true);
      expect(failed.appends()).toBe(1);
    } finally {
      spy.mockRestore();
    }
  });
});

test("a batch of more than 4 MiB is written line by line, not joined to one text", async () => {
  const big = bodyType("big", () => ({ text: "x".repeat(60_000) }));
  const clock = createSimClock();
  const inner = createMemoryJournal({ now: clock.now });
  const batches: { lines: number; buffers: number }[] = [];
  const journal: Journal = {
    ...inner,
    append(runId, expectedSeq, events, options) {
      const buffers = new Set(events.map(({ line }) => line.buffer)).size;
      batches.push({ lines: events.length, buffers });
      return inner.append(runId, expectedSeq, events, options);
    },
  };
  const flow = Array.from({ length: 80 }, (_, n) => `node n${n}: test.big`).join("\n");
  const { run, events, end } = await start(flow, {
    types: [big],
    engine: { host: clock, journal },
  });
  await clock.run();
  expect((await run.result).status).toBe("succeeded");
  expect(batches).toEqual([{ lines: 162, buffers: 162 }]);
  expect(await stored(journal, run.id)).toEqual(events.map(serialiseEvent));
  await end();
});

test("a run that loses its journal gives its slots and keys back to the others", async () => {
  const clock = createSimClock();
  const inner = createMemoryJournal({ now: clock.now });
  const journal: Journal = {
    ...inner,
    async append(runId, ...rest) {
      if (runId === "lost" && rest[0] > 0) throw new Error("disk");
      return inner.append(runId, ...rest);
    },
  };
  const forever = bodyType("forever", (fields) => {
    return fields["wait"] === true ? new Promise(() => undefined) : {};
  });
  const engine = createEngine({
    host: clock,
    journal,
    concurrency: { types: { "test.forever": 1 } },
  });
  const held = await planOf(
    'node a: test.forever { wait = true\n @concurrency = { max: 1, key: "k" } }\nnode d: delay { for = 5ms }',
    { types: [forever] },
  );
  const next = await planOf('node a: test.forever { @concurrency = { max: 1, key: "k" } }', {
    types: [forever],
  });
  const lost = engine.run(held, {}, { runId: "lost" });
  const other = engine.run(next, {}, { runId: "other" });
  await clock.run();
  await expect(lost.result).rejects.toMatchObject({ code: "journal_failed" });
  expect((await other.result).status).toBe("succeeded");
});

test("one run id is used once: in the engine at once, in the journal by the result", async () => {
  const clock = createSimClock();
  const journal = createMemoryJournal({ now: clock.now });
  const plan = await planOf('node a: log { message = "a" }');
  const engine = createEngine({ host: clock, journal });
  const run = engine.run(plan, {}, { runId: "same" });
  expect(() => engine.run(plan, {}, { runId: "same" })).toThrow(
    expect.objectContaining({ code: "run_exists" }),
  );
  await clock.run();
  await run.result;
  await expect(engine.run(plan, {}, { runId: "same" }).result).rejects.toMatchObject({
    code: "run_exists",
  });
});

test("while the journal waits for room nothing starts, what works ends, and room lets the run go on", async () => {
  const clock = createSimClock();
  const inner = createMemoryJournal({ now: clock.now });
  let tell: (isFull: boolean) => void = () => {};
  const journal: Journal = {
    ...inner,
    watchRoom(told) {
      tell = told;
      return () => {};
    },
  };
  let ends: () => void = () => {};
  const slow = bodyType("slow", () => new Promise((resolve) => (ends = () => resolve({}))));
  const { events } = await start("node a: test.slow\nnode b: delay { for = 5ms }\na -> b", {
    engine: { host: clock, journal },
    types: [slow],
  });
  tell(true);
  ends();
  await clock.settle();
  expect(kinds(events, "a").at(-1)).toBe("node.succeeded");
  expect(kinds(events, "b")).toEqual([]);
  tell(false);
  await clock.settle();
  expect(kinds(events, "b")).toEqual(["node.started", "node.waiting"]);
});

test("a run that is left lets an effect at work end, stops what may be repeated, and starts nothing", async () => {
  const clock = createSimClock();
  const journal = createMemoryJournal({ now: clock.now });
  const settle: (() => void)[] = [];
  const stopped: string[] = [];
  const body = (effect: "read" | "write") =>
    bodyType(
      effect,
      (_, ctx) =>
        new Promise((resolve) => {
          settle.push(() => resolve({}));
          ctx.signal.addEventListener("abort", () => stopped.push(effect));
        }),
      { effect },
    );
  const types = [body("read"), body("write")];
  const { run, engine, events } = await start(
    'node r: test.read\nnode w: test.write\nnode after: log { message = "x" }\nw -> after',
    { engine: { host: clock, journal }, types },
  );
  expect(run.pause()).toBe(true);
  const closed = engine.close({ leave: true, graceMs: 1_000 });
  await clock.advance(500);
  expect(stopped).toEqual([]);
  settle[1]?.();
  await closed;
  await expect(run.result).rejects.toMatchObject({ code: "engine_closed" });
  expect(stopped).toEqual(["read"]);
  expect(kinds(events, "w").at(-1)).toBe("node.succeeded");
  expect(kinds(events, "after")).toEqual([]);
  expect(kinds(await storedEvents(journal, run.id)).at(-1)).toBe("node.succeeded");

  const again = createEngine({ host: clock, journal });
  const plan = await planOf(
    'node r: test.read\nnode w: test.write\nnode after: log { message = "x" }\nw -> after',
    { types },
  );
  const resumed = await again.resume(run.id, { plan });
  await clock.settle();
  expect(resumed.paused).toBe("operator");
  expect(resumed.resume()).toBe(true);
  await clock.settle();
  settle.at(-1)?.();
  await clock.run();
  expect((await resumed.result).status).toBe("succeeded");
  expect(checkLog(await storedEvents(journal, run.id))).toEqual([]);
});

async function storedEvents(journal: Journal, runId: string) {
  return (await stored(journal, runId)).map((line) => parseEvent(line) as ExecutionEvent);
}
