/**
 * A run that goes on elsewhere, shown from its log: on a server, or in the embedded API of this process.
 *   W1  every event goes to the display once, in order, and to nothing else.
 *   W2  looking changes nothing: whoever leaves leaves the run alone.
 */
import {
  createView,
  type ExecutionEvent,
  foldEvents,
  type RunView,
  type Summary,
} from "@millrace/contracts";
import type { Api } from "./api/open-api.ts";
import type { CommandIo } from "./command.ts";
import { createDisplay } from "./display.ts";
import { CliError } from "./errors.ts";
import { endedBy } from "./interrupt.ts";

/** How a run is followed. */
export interface FollowOptions {
  /** Shows nothing. */
  readonly silent?: boolean;
  /** Tells no outputs: what stdout is for is there already. */
  readonly answered?: boolean;
  /** Asked after each event; true: the reader leaves. */
  readonly leave?: (view: RunView) => boolean;
}

/** Follows a run to its summary; undefined when `leave` said so. Ends with `cancelled` on a signal: the run goes on. */
export async function followRun(
  runId: string,
  api: Api,
  io: CommandIo,
  { silent = false, answered = false, leave }: FollowOptions = {},
): Promise<Summary | undefined> {
  const flow = await api.invoke("get_run_graph", { runId });
  const graph = answered ? { ...flow, outputs: [] } : flow;
  const view = createView(runId);
  const display = silent
    ? undefined
    : await createDisplay(graph, view, { ...io, interactive: false });
  const left = new AbortController();
  if (io.json !== undefined && !silent) io.out.onClose(() => left.abort());
  const signal = AbortSignal.any([io.signal, left.signal]);
  let summary: Summary | undefined;
  try {
    for await (const given of api.runEvents(runId, { signal })) {
      const event = given as ExecutionEvent;
      foldEvents(view, event);
      await display?.show([event]);
      if (event.kind === "summary") summary = event;
      if (leave?.(view) === true) break;
    }
  } catch (error) {
    await display?.end();
    if (left.signal.aborted) throw gone();
    if (io.signal.aborted) {
      throw endedBy(io.signal, "; the run goes on", `millrace runs cancel ${runId} stops it`);
    }
    throw error;
  }
  await display?.end(summary);
  return summary;
}

/** The reader of the lines has left, and nobody is told. */
function gone(): CliError {
  return new CliError("check_failed", "the reader has left", { told: true });
}
