/** The beginning of a run: journal, first event, first nodes. */
import { hideSecretInputs } from "@millrace/contracts";
import { EngineError } from "../errors.ts";
import { cancelRun } from "./cancel.ts";
import { emitCancelling, emitPaused, emitRunStarted } from "./emit-run.ts";
import { endRun } from "./end.ts";
import { Frame } from "./frame.ts";
import { JournalWriter } from "./journal-writer.ts";
import { exclude, includedNodes } from "./only.ts";
import { startClock } from "./pause.ts";
import type { RunCore } from "./state.ts";

/** Starts a run with the next microtask, so that its caller can listen first; with a journal, once that is created. */
export function launch(run: RunCore): void {
  listen(run);
  learnSecrets(run);
  const { journal } = run.engine.options;
  if (journal === undefined) {
    queueMicrotask(() => startFresh(run));
    return;
  }
  const { created } = run.options;
  if (created !== undefined) {
    run.journal = new JournalWriter(journal, run, { epoch: created.epoch, stored: 0 });
    queueMicrotask(() => startFresh(run));
    return;
  }
  run.journal = new JournalWriter(journal, run);
  run.journal.create().then(
    () => startFresh(run),
    (error: unknown) => run.abandon(notCreated(run, error)),
  );
}

/** The first event and the first nodes. */
export function startFresh(run: RunCore): void {
  if (run.state === "over") return; // left, or lost, before it began
  run.state = "running";
  run.tick();
  run.startedAt = run.now;
  emitRunStarted(run);
  const { layout } = run.parts;
  const top = new Frame(layout, { id: 0, base: "", depth: 0 }, { inputs: run.inputs });
  run.frames = [top];
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
