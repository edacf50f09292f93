/** The interface of all displays, and the outputs that each of them prints at the end. */

import type { ExecutionEvent, FlowGraph, Summary } from "@millrace/contracts";
import type { CommandIo } from "../argv/spec.ts";

/** A display of one run. `show` resolves when its text is written, so a slow reader delays only this process. */
export interface Display {
  show(events: readonly ExecutionEvent[]): Promise<void>;
  /** Writes a line that is not about an event. */
  say(line: string): void;
  /** Writes the last frame. Without a summary: the display ends before the run. */
  end(summary?: Summary): Promise<void>;
}

/** Writes the outputs of a run to stdout; nothing for a flow without outputs. */
export async function writeOutputs(
  graph: FlowGraph,
  summary: Summary,
  io: CommandIo,
): Promise<void> {
  if (summary.status !== "succeeded" || graph.outputs.length === 0) return;
  const refs = summary.outputRefs ?? {};
  const values = Object.keys(refs).length === 0 ? summary.outputs : { ...summary.outputs, ...refs };
  await io.out.write(`${JSON.stringify(values, null, 2)}\n`);
}
