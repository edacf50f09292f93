/**
 * What every dispatcher does alike: `dispatcherConformance(name, make)` declares the tests. Each test opens one or two servers of
 * the same cluster, with drives that tell what they did.
 */
import { randomUUID } from "node:crypto";
import { Again, type Dispatcher, type Drive, type DriveResult } from "@millrace/contracts";
import { describe, expect, onTestFinished, test } from "vitest";

/** A place where dispatchers of one cluster are opened. */
export interface DispatcherCluster {
  /** Whether more than one server can be open at a time. */
  readonly hasMany: boolean;
  /** Opens the dispatcher of one more server. The suite closes it. */
  open(): Promise<Dispatcher>;
}

interface Call {
  readonly runId: string;
  readonly server: number;
  /** As the clock of this process says; they only grow. */
  readonly beganAt: number;
  endedAt: number | undefined;
}

/** Long enough for a loaded machine; what is waited for ends a wait. */
const PATIENCE = { timeout: 60_000, interval: 10 };
const TEST_MS = { timeout: 180_000 };
/** By how much the clock of a dispatcher may differ from that of the test, within a second. */
const CLOCK_MS = 20;

/** Declares the tests. `make` is called once for each of them; clusters may share what is behind them. */
export function dispatcherConformance(name: string, make: () => Promise<DispatcherCluster>): void {
  describe(`${name}: a dispatcher`, () => {
    test("calls a drive for each run that is rung", TEST_MS, async () => {
      const { open, calls } = await stage(make);
      const { dispatcher } = await open(async () => "done");
      const runs = Array.from({ length: 20 }, newRun);
      await Promise.all(runs.map((run) => dispatcher.ring(run)));
      for (const run of runs) {
        await expect.poll(() => ended(calls, run), PATIENCE).toBeGreaterThan(0);
      }
    });

    test("keeps what is rung before it serves", TEST_MS, async () => {
      const { open, calls } = await stage(make);
      const { dispatcher } = await open();
      const run = newRun();
      const [outcome] = await Promise.allSettled([dispatcher.ring(run)]);
      await dispatcher.serve(drives(calls, 0, async () => "done"));
      if (outcome.status === "rejected") await ringUntilTaken(dispatcher, run);
      await expect.poll(() => ended(calls, run), PATIENCE).toBeGreaterThan(0);
    });

    test("never drives a run twice at a time, and misses no ring", TEST_MS, async () => {
      const { open, calls, hasMany } = await stage(make);
      const drive = async (): Promise<DriveResult> => {
        await turns();
        return "done";
      };
      const first = await open(drive);
      const second = hasMany ? await open(drive) : first;
      const runs = Array.from({ length: 4 }, newRun);
      const rungAt = new Map<string, number>();
      for (let round = 0; round < 10; round += 1) {
        for (const run of runs) {
          rungAt.set(run, performance.now());
          await (round % 2 === 0 ? first : second).dispatcher.ring(run);
        }
      }
      for (const run of runs) {
        const last = rungAt.get(run) ?? Number.POSITIVE_INFINITY;
        const isServed = () => callsOf(calls, run).some(({ beganAt }) => beganAt >= last);
        await expect.poll(isServed, PATIENCE).toBe(true);
        await expect.poll(() => working(calls, run), PATIENCE).toBe(0);
        expect(overlaps(callsOf(calls, run))).toEqual([]);
      }
    });

    test("calls again for a ring during a drive, after it", TEST_MS, async () => {
      const { open, calls } = await stage(make);
      const gate = newGate();
      const { dispatcher } = await open(async () => {
        await gate.passed;
        return "done";
      });
      const run = newRun();
      await dispatcher.ring(run);
      await expect.poll(() => working(calls, run), PATIENCE).toBe(1);
      await dispatcher.ring(run);
      gate.open();
      await expect.poll(() => ended(calls, run), PATIENCE).toBe(2);
      expect(overlaps(callsOf(calls, run))).toEqual([]);
    });

    test(
      "repeats a drive that throws until it ends, and drives others meanwhile",
      TEST_MS,
      async () => {
        const { open, calls } = await stage(make);
        const [failing, other] = [newRun(), newRun()];
        const { dispatcher } = await open(async (run) => {
          if (run === failing && callsOf(calls, run).length < 4) throw new Error("not now");
          return "done";
        });
        await dispatcher.ring(failing);
        await dispatcher.ring(other);
        await expect.poll(() => ended(calls, other), PATIENCE).toBe(1);
        await expect.poll(() => ended(calls, failing), PATIENCE).toBe(4);
      },
    );

    test("calls another server, or this one later, for `Again`", TEST_MS, async () => {
      const { open, calls, hasMany } = await stage(make);
      const runs = Array.from({ length: 6 }, newRun);
      const { dispatcher } = await open(async (run) => {
        if (hasMany || callsOf(calls, run).length < 3) throw new Again();
        return "done";
      });
      if (hasMany) await open(async () => "done");
      for (const run of runs) await dispatcher.ring(run);
      for (const run of runs) {
        const last = () => callsOf(calls, run).at(-1);
        await expect
          .poll(
            () => last()?.endedAt !== undefined && last()?.server === (hasMany ? 1 : 0),
            PATIENCE,
          )
          .toBe(true);
      }
    });

    test("calls not before a delay, and at once for a ring without", TEST_MS, async () => {
      const { open, calls } = await stage(make);
      const { dispatcher } = await open(async () => "done");
      const [late, soon] = [newRun(), newRun()];
      const rungAt = performance.now();
      await dispatcher.ring(late, { delayMs: 700 });
      await dispatcher.ring(soon, { delayMs: 0 });
      await expect.poll(() => ended(calls, soon), PATIENCE).toBe(1);
      await expect.poll(() => ended(calls, late), PATIENCE).toBe(1);
      expect(callsOf(calls, late)[0]?.beganAt).toBeGreaterThan(rungAt + 700 - CLOCK_MS);
    });

    test("calls again after the time that a drive names", TEST_MS, async () => {
      const { open, calls } = await stage(make);
      let parkedAt = 0;
      const { dispatcher } = await open(async (run) => {
        if (callsOf(calls, run).length > 1) return "done";
        parkedAt = performance.now();
        return { again: 500 };
      });
      const run = newRun();
      await dispatcher.ring(run);
      await expect.poll(() => ended(calls, run), PATIENCE).toBe(2);
      expect(callsOf(calls, run)[1]?.beganAt).toBeGreaterThan(parkedAt + 500 - CLOCK_MS);
    });

    test("lets a drive at work end when it closes, and takes no more", TEST_MS, async () => {
      const { open, calls } = await stage(make);
      const gate = newGate();
      let wasTold = false;
      const { dispatcher } = await open(async (_run, { signal }) => {
        await gate.passed;
        wasTold = signal.aborted;
        return "done";
      });
      const run = newRun();
      await dispatcher.ring(run);
      await expect.poll(() => working(calls, run), PATIENCE).toBe(1);
      const closed = dispatcher.close({ graceMs: 15_000 });
      gate.open();
      await closed;
      expect(wasTold).toBe(false);
      expect(ended(calls, run)).toBe(1);
      await expect(dispatcher.ring(newRun())).rejects.toMatchObject({ code: "dispatcher_closed" });
      await expect(dispatcher.serve(async () => "done")).rejects.toMatchObject({
        code: "dispatcher_closed",
      });
    });

    test("hands a drive over that does not end before it closes", TEST_MS, async () => {
      const { open, calls, hasMany } = await stage(make);
      const { dispatcher } = await open(async (_run, { signal }) => {
        await aborted(signal);
        throw new Again("left");
      });
      const run = newRun();
      await dispatcher.ring(run);
      await expect.poll(() => working(calls, run), PATIENCE).toBe(1);
      if (hasMany) await open(async () => "done");
      await dispatcher.close({ graceMs: 0 });
      expect(working(calls, run)).toBe(0);
      if (!hasMany) return;
      const byOther = () =>
        callsOf(calls, run).some(({ server, endedAt }) => server === 1 && endedAt);
      await expect.poll(byOther, PATIENCE).toBe(true);
      expect(overlaps(callsOf(calls, run))).toEqual([]);
    });

    test("leaves delayed rings to the servers that stay", TEST_MS, async () => {
      const { open, calls, hasMany } = await stage(make);
      const first = await open(async () => "done");
      const second = hasMany ? await open(async () => "done") : undefined;
      const run = newRun();
      await first.dispatcher.ring(run, { delayMs: 1_000 });
      await first.dispatcher.close();
      if (second === undefined) return;
      await expect.poll(() => ended(calls, run), PATIENCE).toBe(1);
      expect(callsOf(calls, run)[0]?.server).toBe(1);
    });

    test("serves one drive only", TEST_MS, async () => {
      const { open } = await stage(make);
      const { dispatcher } = await open(async () => "done");
      await expect(dispatcher.serve(async () => "done")).rejects.toMatchObject({
        code: "dispatcher_serves",
      });
    });
  });
}

/** Opens servers for one test. */
async function stage(make: () => Promise<DispatcherCluster>) {
  const calls: Call[] = [];
  const cluster = await make();
  let opened = 0;
  return {
    calls,
    hasMany: cluster.hasMany,
    async open(drive?: Drive) {
      const server = opened;
      opened += 1;
      const dispatcher = await cluster.open();
      onTestFinished(() => dispatcher.close());
      if (drive !== undefined) await dispatcher.serve(drives(calls, server, drive));
      return { dispatcher };
    },
  };
}

/** A drive that is written down. Runs of other tests, which may still be called, are none of this one's. */
function drives(calls: Call[], server: number, drive: Drive): Drive {
  return async (runId, options) => {
    const call: Call = { runId, server, beganAt: performance.now(), endedAt: undefined };
    calls.push(call);
    try {
      return await drive(runId, options);
    } finally {
      call.endedAt = performance.now();
    }
  };
}

/** Rings until somebody takes it, as a sweep over the store does. */
async function ringUntilTaken(dispatcher: Dispatcher, run: string): Promise<void> {
  await expect.poll(() => dispatcher.ring(run).then(() => "taken", String), PATIENCE).toBe("taken");
}

const newRun = (): string => `run-${randomUUID()}`;
const callsOf = (calls: readonly Call[], run: string) => calls.filter(({ runId }) => runId === run);
const ended = (calls: readonly Call[], run: string) =>
  callsOf(calls, run).filter(({ endedAt }) => endedAt !== undefined).length;
const working = (calls: readonly Call[], run: string) =>
  callsOf(calls, run).filter(({ endedAt }) => endedAt === undefined).length;

/** Pairs of calls that were at work at the same time. */
function overlaps(calls: readonly Call[]): readonly (readonly [Call, Call])[] {
  const inOrder = calls.toSorted((a, b) => a.beganAt - b.beganAt);
  return inOrder.flatMap((call, at) => {
    const before = inOrder[at - 1];
    const isLate = (before?.endedAt ?? Number.POSITIVE_INFINITY) <= call.beganAt;
    return before === undefined || isLate ? [] : [[before, call] as const];
  });
}

function newGate(): { readonly passed: Promise<void>; open(): void } {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}

/** Some work that lets others come between. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function aborted(signal: Parameters<Drive>[1]["signal"]): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
