/**
 * The beginning of a run: journal, first event, first nodes; which nodes take part (`RunOptions.only`: the others are skipped at the
 * end) and whose results are given instead of made (`RunOptions.pins`: they go the way of results that a rerun takes over).
 */

import { hideSecretInputs, NodeError } from "@millrace/contracts";
import { listOf } from "@millrace/contracts/kit";
import { type Layout, portsOf } from "../compile/layout.ts";
import { EngineError } from "../errors.ts";
import type { RunOptions } from "../options.ts";
import { deepFreeze, toOutput } from "../values.ts";
import { readSecrets } from "./capabilities.ts";
import { emitCancelling, emitPaused, emitRunStarted } from "./emit.ts";
import { endRun } from "./end.ts";
import { cancelRun } from "./end-run.ts";
import { Frame, SKIPPED } from "./frame.ts";
import { JournalWriter } from "./journal.ts";
import { startClock } from "./pause.ts";
import type { Reused } from "./recover/reuse.ts";
import type { RunCore } from "./state.ts";

/** Starts a run with the next microtask, so that its caller can listen first; with a journal, once that is created. */
export function launch(run: RunCore): void {
  listen(run);
  learnSecrets(run);
  const { journal } = run.engine.options;
  if (journal === undefined) {
    begin(run, startFresh);
    return;
  }
  const { created } = run.options;
  if (created !== undefined) {
    run.journal = new JournalWriter(journal, run, { epoch: created.epoch, stored: 0 });
    begin(run, startFresh);
    return;
  }
  run.journal = new JournalWriter(journal, run);
  run.journal.create().then(
    () => (run.parts.secrets.length === 0 ? startFresh(run) : begin(run, startFresh)),
    (error: unknown) => run.abandon(notCreated(run, error)),
  );
}

/** Lets a run begin with the next microtask, or when the secrets of its flow are read. */
function begin(run: RunCore, start: (run: RunCore) => void): void {
  if (run.parts.secrets.length === 0) queueMicrotask(() => start(run));
  else void readSecrets(run).then(() => start(run));
}

/** The first event and the first nodes. */
export function startFresh(run: RunCore): void {
  if (run.state === "over") return; // left, or lost, before it began
  run.state = "running";
  run.tick();
  run.startedAt = run.now;
  const { cache, fastLane } = run.engine.options;
  run.isFast = run.journal === null && run.reused === null && !cache && fastLane !== false;
  emitRunStarted(run);
  const { layout } = run.parts;
  const top = new Frame(layout, { id: 0, base: "", depth: 0 }, { inputs: run.inputs });
  run.frames = listOf(top);
  exclude(top, includedNodes(layout, run.options.only));
  startClock(run);
  const early = run.cancelEarly;
  if (early === null) {
    if (run.held) {
      run.held = false;
      run.paused = "operator";
      emitPaused(run, "operator");
    }
    run.loop.seed(run, top);
  } else {
    run.open += top.open;
    emitCancelling(run, early.stop.cancel, early);
    endRun(run, early.stop, early.graceMs);
  }
  run.pump();
}

/** Cancels the run when the caller's signal says so. */
export function listen(run: RunCore): void {
  const { signal } = run.options;
  if (signal === undefined) return;
  const abort = () => void cancelRun(run, {});
  if (signal.aborted) {
    abort();
    return;
  }
  signal.addEventListener("abort", abort, { once: true });
  run.detach = () => signal.removeEventListener("abort", abort);
}

/** Inputs that their schema calls secret are known to the redactor from the start. */
export function learnSecrets(run: RunCore): void {
  hideSecretInputs(run.parts.graph.inputs, run.inputs, (secret) => run.hide(secret));
}

function notCreated(run: RunCore, error: unknown): EngineError {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === "run_exists") {
    return new EngineError("run_exists", `the run ${run.id} exists already`, { cause: error });
  }
  return new EngineError("journal_failed", `the journal refused the run ${run.id}`, {
    cause: error,
  });
}

/** Which nodes run; null: all. Throws `input_invalid` for an id that the flow does not have. */
export function includedNodes(
  layout: Layout,
  only: readonly string[] | undefined,
): boolean[] | null {
  if (only === undefined) return null;
  const sources: number[][] = Array.from({ length: layout.size }, () => []);
  for (let from = 0; from < layout.size; from += 1) {
    for (let k = layout.outOff[from] as number; k < (layout.outOff[from + 1] as number); k += 1) {
      sources[layout.outTo[k] as number]?.push(from);
    }
  }
  const included = new Array<boolean>(layout.size).fill(false);
  const stack = only.map((id) => {
    const node = layout.index.get(id);
    if (node !== undefined) return node;
    throw new EngineError("input_invalid", `options.only names the unknown node "${id}"`);
  });
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (included[node] === true) continue;
    included[node] = true;
    stack.push(...(sources[node] ?? []));
  }
  return included;
}

/** Takes the nodes out that do not run: nothing decides them, and the frame does not wait for them. */
export function exclude(frame: Frame, included: readonly boolean[] | null): void {
  if (included === null) return;
  frame.excluded = [];
  for (let node = 0; node < frame.layout.size; node += 1) {
    if (included[node] === true) continue;
    frame.setState(node, SKIPPED);
    frame.excluded.push(node);
    frame.open -= 1;
  }
}

/** The pins by node. Throws `EngineError` `input_invalid` for an unknown node or port, and for what is not JSON. */
export function pinnedResults(layout: Layout, pins: NonNullable<RunOptions["pins"]>): Reused {
  return new Map(
    Object.entries(pins).map(([id, { port = "out", output }]) => {
      const node = layout.index.get(id);
      if (node === undefined) throw invalid(`names the unknown node "${id}"`);
      const known = portsOf(layout, node);
      if (!known.includes(port)) {
        throw invalid(`"${id}" has no port "${port}"; it has ${known.join(", ")}`);
      }
      if (output === undefined) throw invalid(`"${id}" has no output`);
      return [id, { port, output: plain(id, output) }];
    }),
  );
}

function plain(id: string, output: unknown): ReturnType<typeof toOutput> {
  try {
    const value = toOutput(output);
    deepFreeze(value);
    return value;
  } catch (error) {
    const why = error instanceof NodeError || error instanceof Error ? error.message : "not JSON";
    throw invalid(`the output of "${id}" is not JSON: ${why}`);
  }
}

function invalid(what: string): EngineError {
  return new EngineError("input_invalid", `options.pins: ${what}`);
}
