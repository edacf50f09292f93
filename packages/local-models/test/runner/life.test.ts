/** The life of a model's process, with processes that do as they are told. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelLease } from "@millrace/contracts";
import { temporaryFolder } from "@millrace/test-support/folder";
import { isAlive } from "@millrace/test-support/processes";
import { describe, expect, onTestFinished, test } from "vitest";
import { startTimeOf } from "../../src/process-identity.ts";
import { Runners } from "../../src/runner/runners.ts";
import { ENGINE, type Fault, faultRunners, handClock, model, until } from "./support.ts";

const A = model("a");
const B = model("b");
const C = model("c");

const code = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "resolved",
    (error: { code?: string }) => error.code,
  );

describe("loading", () => {
  test("twenty callers at the same time share one process, and get it one after the other", async () => {
    const { runners, children, dir } = faultRunners();
    let active = 0;
    let most = 0;
    const calls = Array.from({ length: 20 }, async () => {
      const lease = await runners.acquire(A);
      active += 1;
      most = Math.max(most, active);
      await Promise.resolve();
      active -= 1;
      lease.release();
    });
    expect(runners.state("a")).toBe("loading");
    await Promise.all(calls);
    expect(children).toHaveLength(1);
    expect(most).toBe(1);
    const [child] = children;
    expect(runners.runtime("a")).toEqual({
      pid: child?.pid,
      loadedAt: "2026-01-05T10:00:00.000Z",
      threads: 3,
      contextSize: 2048,
      active: 0,
      queued: 0,
      expiresAt: "2026-01-05T10:10:00.000Z",
    });
    const [file = ""] = readdirSync(dir);
    expect(JSON.parse(readFileSync(join(dir, file), "utf8"))).toEqual({
      pid: child?.pid,
      startTime: expect.any(String),
      model: "a",
    });
    await runners.close();
    expect(readdirSync(dir)).toEqual([]);
    expect(isAlive(child?.pid)).toBe(false);
  });

  test.each<[Fault, string, RegExp]>([
    ["exits", "runner_crashed", /exit code 3/],
    ["garbage", "load_failed", /what no runner says/],
    ["fails", "load_failed", /cannot read <path>/],
  ])(
    "a process in place of a runner (%s) leaves the model crashed with %s",
    async (fault, expected, text) => {
      const { runners } = faultRunners({ faults: [fault] });
      const odd = model("a", { path: "/models/with blanks/a.gguf" });
      const waiting = [runners.acquire(odd), runners.acquire(odd)];
      expect(await Promise.all(waiting.map(code))).toEqual([expected, expected]);
      expect(JSON.stringify(runners.error("a"))).not.toContain("blanks");
      expect(runners.state("a")).toBe("crashed");
      expect(runners.error("a")).toMatchObject({
        code: expected,
        message: expect.stringMatching(text),
      });
      expect(runners.runtime("a")).toBeNull();
    },
  );

  test("a process that hangs is killed when its time is over", async () => {
    const { runners, clock, children } = faultRunners({ faults: ["hangs"] });
    const waiting = runners.acquire(A);
    clock.advance(119_999);
    expect(runners.state("a")).toBe("loading");
    clock.advance(1);
    expect(await code(waiting)).toBe("load_failed");
    expect(children[0]?.signalCode).toBe("SIGKILL");
  });

  test("options of a load hold for that load, within what the model was made for", async () => {
    const { runners } = faultRunners();
    await runners.load(A, { contextSize: 9_999, threads: 2, ttlMs: -1 });
    expect(runners.runtime("a")).toMatchObject({ contextSize: 2048, threads: 2, expiresAt: null });
    await runners.unload("a");
    expect(runners.state("a")).toBeNull();
    await runners.load(A);
    expect(runners.runtime("a")).toMatchObject({ threads: 3 });
    expect(runners.runtime("a")?.expiresAt).not.toBeNull();
  });

  test("without an engine whoever waits is told, and the model stays ready", async () => {
    const missing = Object.assign(new Error("no engine"), { code: "engine_missing" });
    const runners = new Runners({
      dir: temporaryFolder(),
      writable: true,
      settings: {},
      clock: handClock(),
      engine: () => {
        throw missing;
      },
      used() {},
      log() {},
    });
    expect(await code(runners.acquire(A))).toBe("engine_missing");
    expect(await code(runners.load(A))).toBe("engine_missing");
    expect(runners.state("a")).toBeNull();
  });
});

describe("crashes", () => {
  test("the pause grows, and after five of them only a load by name begins again", async () => {
    const { runners, clock } = faultRunners({ faults: Array(6).fill("exits") });
    for (const pause of [1_000, 2_000, 4_000, 8_000]) {
      expect(await code(runners.acquire(A))).toBe("runner_crashed");
      clock.advance(pause - 1);
      const before = runners.error("a");
      expect(await code(runners.acquire(A))).toBe("runner_crashed");
      expect(runners.error("a"), "nothing was started").toBe(before);
      clock.advance(1);
    }
    expect(await code(runners.acquire(A))).toBe("runner_crashed");
    clock.advance(300_000);
    await expect(runners.acquire(A)).rejects.toThrow(/until it is loaded by name/);
    expect(await code(runners.load(A))).toBe("runner_crashed");
    await runners.load(A);
    expect(runners.state("a")).toBe("loaded");
    expect(runners.error("a")).toBeNull();
  });

  test("a process that is killed while it works fails those who wait, and its lease is void", async () => {
    const { runners, children, clock } = faultRunners();
    const lease = await runners.acquire(A);
    const waiting = runners.acquire(A);
    children[0]?.kill("SIGKILL");
    await expect(waiting).rejects.toMatchObject({ code: "runner_crashed", retryable: true });
    expect(runners.error("a")).toMatchObject({ code: "runner_crashed", signal: "SIGKILL" });
    clock.advance(1_000);
    const next = await runners.acquire(A);
    lease.release();
    expect(runners.state("a")).toBe("busy");
    next.release();
    expect(runners.state("a")).toBe("loaded");
  });
});

describe("idle time", () => {
  test("begins at the last release and never ends a lease", async () => {
    const { runners, clock, used } = faultRunners();
    const lease = await runners.acquire(A);
    clock.advance(10_000_000);
    expect(runners.state("a")).toBe("busy");
    lease.release();
    lease.release();
    expect(used).toEqual(["a", "a"]);
    clock.advance(599_999);
    expect(runners.state("a")).toBe("loaded");
    clock.advance(1);
    expect(runners.state("a")).toBe("unloading");
    await until(() => runners.state("a") === null);
    expect(clock.pending).toBe(0);
  });

  test("0 unloads at once, but not before those who wait", async () => {
    const { runners, children } = faultRunners();
    const brief = model("a", { defaults: { contextSize: null, threads: 1, ttlMs: 0 } });
    const first = await runners.acquire(brief);
    const second = runners.acquire(brief);
    first.release();
    (await second).release();
    expect(runners.state("a")).toBe("unloading");
    (await runners.acquire(brief)).release();
    expect(children).toHaveLength(2);
  });
});

describe("room", () => {
  test("the model that was used longest ago makes it", async () => {
    const { runners } = faultRunners({ settings: { maxLoaded: 2 } });
    (await runners.acquire(A)).release();
    (await runners.acquire(B)).release();
    (await runners.acquire(A)).release();
    (await runners.acquire(C)).release();
    expect(["a", "b", "c"].map((id) => runners.state(id))).toEqual(["loaded", null, "loaded"]);
  });

  test("a model in use makes none, and the one that waits gets its turn", async () => {
    const { runners } = faultRunners();
    const lease = await runners.acquire(A);
    const waiting = runners.acquire(B);
    expect([runners.state("a"), runners.state("b")]).toEqual(["busy", null]);
    lease.release();
    (await waiting).release();
    expect([runners.state("a"), runners.state("b")]).toEqual([null, "loaded"]);
  });

  test("memory is made by idle models, and what does not fit even so is refused", async () => {
    let free = 400 * 1_048_576;
    const { runners, children } = faultRunners({
      settings: { maxLoaded: 4 },
      machine: { availableBytes: () => free },
    });
    await runners.load(A);
    free = 300 * 1_048_576;
    const loading = runners.load(B);
    expect(runners.state("a")).toBe("unloading");
    free = 400 * 1_048_576;
    await loading;
    expect(children).toHaveLength(2);
    const lease = await runners.acquire(B);
    free = 300 * 1_048_576;
    expect(await code(runners.acquire(A))).toBe("model_out_of_memory");
    lease.release();
    const large = model("large", { bytes: 200 * 1_048_576 });
    free = 400 * 1_048_576;
    expect(await code(runners.acquire(large))).toBe("model_out_of_memory");
    expect(children).toHaveLength(2);
  });
});

test("loads at the same time do not count on the same memory", async () => {
  const { runners, children } = faultRunners({
    settings: { maxLoaded: 4 },
    machine: { availableBytes: () => 400 * 1_048_576 },
  });
  const loading = [runners.load(A), runners.load(B)];
  expect(children).toHaveLength(1);
  await Promise.all(loading);
  expect(["a", "b"].map((id) => runners.state(id))).toEqual(["loaded", "loaded"]);
});

describe("the queue", () => {
  test("takes 32, gives up after its time, and lets go of who leaves", async () => {
    const { runners, clock } = faultRunners();
    const lease = await runners.acquire(A);
    const leaving = new AbortController();
    const gone = runners.acquire(A, leaving.signal);
    const waiting = Array.from({ length: 31 }, () => runners.acquire(A));
    expect(runners.runtime("a")).toMatchObject({ active: 1, queued: 32 });
    await expect(runners.acquire(A)).rejects.toMatchObject({ code: "model_busy", retryable: true });
    leaving.abort(new Error("enough"));
    await expect(gone).rejects.toThrow("enough");
    expect(runners.runtime("a")?.queued).toBe(31);
    const outcomes = Promise.all(waiting.map(code));
    clock.advance(120_000);
    expect(new Set(await outcomes)).toEqual(new Set(["model_busy"]));
    lease.release();
    expect(runners.state("a")).toBe("loaded");
  });
});

describe("unloading", () => {
  test("is refused while the model is in use, unless it is forced", async () => {
    const { runners, children } = faultRunners();
    const lease: ModelLease = await runners.acquire(A);
    const waiting = code(runners.acquire(A));
    expect(await code(runners.unload("a"))).toBe("in_use");
    await runners.unload("a", { force: true });
    expect(await waiting).toBe("model_busy");
    lease.release();
    expect(runners.state("a")).toBeNull();
    expect(isAlive(children[0]?.pid)).toBe(false);
    await runners.unload("a");
    await runners.unload("nobody");
  });

  test("at the end of the manager takes everybody along", async () => {
    const { runners, children, clock } = faultRunners();
    await runners.acquire(A);
    const waiting = code(runners.acquire(B));
    await runners.close();
    expect(await waiting).toBe("model_busy");
    expect(await code(runners.acquire(A))).toBe("model_busy");
    expect(children.map(({ pid }) => isAlive(pid))).toEqual([false]);
    expect(clock.pending).toBe(0);
  });
});

describe("processes that a manager has left", () => {
  test("are not those of a manager that may not write, which outlive the start of the one that may", async () => {
    const { runners, dir } = faultRunners({ writable: false });
    await runners.load(A);
    expect(readdirSync(dir)).toEqual([]);
  });

  test("are ended by the next one that may write, and nobody else is", async () => {
    const { runners, children, dir } = faultRunners();
    await runners.load(A);
    const pid = children[0]?.pid ?? 0;
    const own = { pid: process.pid, startTime: "1", model: "b" };
    writeFileSync(join(dir, `${process.pid}.json`), JSON.stringify(own));
    writeFileSync(join(dir, "1.json"), "{");
    const logs: string[] = [];
    const context = {
      dir,
      settings: {},
      clock: handClock(),
      engine: () => ({ version: "0", source: "peer" as const, entry: ENGINE }),
      used() {},
      log: (_level: string, text: string) => void logs.push(text),
    };
    new Runners({ ...context, writable: false });
    expect(isAlive(pid)).toBe(true);
    expect(startTimeOf(pid)).not.toBeNull();
    const next = new Runners({ ...context, writable: true });
    onTestFinished(() => next.close());
    await until(() => runners.state("a") === "crashed");
    expect(readdirSync(dir)).toEqual([]);
    expect(logs).toEqual(["1 processes of an earlier manager were ended"]);
  });
});
