import type { FlowGraph } from "@millrace/contracts";
import type { NodeType, Run } from "@millrace/engine";
import {
  compiled,
  endsOf,
  faultsOf,
  forSeeds,
  type Ran,
  referenceRun,
  runPlan,
  scriptedNode,
  settled,
  TIMEOUT_MS,
} from "@millrace/test-support/flows";
import { expect, test } from "vitest";

const FILE = "cancel";

/** Scripted bodies that tell when they are entered, and whose signals can be looked at. */
function watched(entered: () => void): { type: NodeType; signals: Set<AbortSignal> } {
  const signals = new Set<AbortSignal>();
  const run: NodeType["run"] = (fields, ctx) => {
    const signal = ctx.signal as AbortSignal;
    signals.add(signal);
    entered();
    const done = () => void signals.delete(signal);
    let result: unknown;
    try {
      result = scriptedNode.run(fields, ctx);
    } finally {
      if (result instanceof Promise) result.then(done, done);
      else done();
    }
    return result;
  };
  return { type: { ...scriptedNode, run }, signals };
}

/** Faults of a run that was cancelled, if it still was when the call came. */
function faultsOfCancelled(ran: Ran, graph: FlowGraph, cancelled: boolean): string[] {
  const faults = faultsOf(ran);
  if (!cancelled) return faults;
  const { status, exitCode } = ran.summary;
  if (status !== "cancelled" || exitCode !== 130) faults.push(`it ends ${status} with ${exitCode}`);
  const at = ran.events.findIndex(({ kind }) => kind === "run.cancelling");
  const reference = referenceRun(graph);
  for (const [path, end] of endsOf(ran.events.slice(0, at))) {
    const wanted = reference.nodes.get(path);
    if (wanted === undefined || end.state.startsWith("cancelled")) continue;
    const same = end.state === wanted.state && settled(end.record) === settled(wanted.record);
    if (!same && end.state === "succeeded") faults.push(`${path} ended as it should not`);
  }
  return faults;
}

test(
  "cancelling as soon as any event is seen ends the run at once, whole and with nothing left",
  async () => {
    let positions = 0;
    await forSeeds(200, FILE, async (_seed, graph) => {
      const { type, signals } = watched(() => {});
      const plan = await compiled(graph, type);
      const batches: number[] = [];
      await runPlan(plan, { watch: (events) => batches.push(events.length) });
      const faults: string[] = [];
      for (let k = 0; k < batches.length && faults.length === 0; k += 1) {
        let run: Run | undefined;
        let batch = 0;
        let cancelled = false;
        signals.clear();
        const ran = await runPlan(plan, {
          begun: (begun) => {
            run = begun;
          },
          watch: () => {
            if (batch === k) {
              cancelled = run?.cancel() ?? false;
              if (cancelled && [...signals].some(({ aborted }) => !aborted)) {
                faults.push(`a body is not aborted when cancel returns (batch ${k})`);
              }
            }
            batch += 1;
          },
        });
        positions += 1;
        faults.push(
          ...faultsOfCancelled(ran, graph, cancelled).map((text) => `batch ${k}: ${text}`),
        );
      }
      return faults;
    });
    expect(positions).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);

test(
  "cancelling from within any body ends the run at once, whole and with nothing left",
  async () => {
    await forSeeds(200, FILE, async (_seed, graph) => {
      let entries = 0;
      let act: () => void = () => {};
      const { type, signals } = watched(() => act());
      const plan = await compiled(graph, type);
      act = () => {
        entries += 1;
      };
      await runPlan(plan);
      const faults: string[] = [];
      for (let k = 1; k <= entries && faults.length === 0; k += 1) {
        let run: Run | undefined;
        let entry = 0;
        let cancelled = false;
        signals.clear();
        act = () => {
          entry += 1;
          // The first body is entered before there is a handle; it is cancelled in a microtask.
          if (entry === k && run !== undefined) cancelled = run.cancel();
          else if (entry === k) queueMicrotask(() => (cancelled = run?.cancel() ?? false));
        };
        const ran = await runPlan(plan, {
          begun: (begun) => {
            run = begun;
          },
        });
        const late = ran.events.slice(
          ran.events.findIndex(({ kind }) => kind === "run.cancelling"),
        );
        if (cancelled && late.some(({ kind }) => kind === "node.started"))
          faults.push("it starts more");
        faults.push(
          ...faultsOfCancelled(ran, graph, cancelled).map((text) => `entry ${k}: ${text}`),
        );
      }
      return faults;
    });
  },
  TIMEOUT_MS,
);

test(
  "an engine that closes cancels its runs with reason shutdown and frees everything",
  async () => {
    await forSeeds(200, FILE, async (seed, graph) => {
      const plan = await compiled(graph);
      let close: () => void = () => {};
      let batches = 0;
      let closed = 0;
      const ran = await runPlan(plan, {
        begun: (_run, engine) => {
          close = () => void engine.close().then(() => (closed += 1));
        },
        watch: () => {
          batches += 1;
          if (batches === 1 + (seed % 3)) close();
        },
      });
      await ran.clock.settle();
      const faults = faultsOf(ran);
      if (batches > seed % 3 && closed !== 1) faults.push("close has not resolved");
      const cancelling = ran.events.find((event) => event.kind === "run.cancelling");
      if (cancelling !== undefined && cancelling.reason !== "shutdown")
        faults.push("another reason");
      return faults;
    });
  },
  TIMEOUT_MS,
);
