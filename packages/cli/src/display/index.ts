/** The three ways to show a run. Each sees every event once, and the one folded view. */
import type { ExecutionEvent, FlowGraph, RunView, Summary } from "@millrace/contracts";
import type { CommandIo } from "./command.ts";
import type { Ndjson } from "./ndjson.ts";
import { plainLine } from "./render/plain.ts";
import { createStyle } from "./render/style.ts";
import { createSpool } from "./spool.ts";

/** A display of one run; `show` resolves when the text is handed over, so that a slow reader slows only us. */
export interface Display {
  show(events: readonly ExecutionEvent[]): Promise<void>;
  /** A line for the person, beside the run itself. */
  say(line: string): void;
  /** The last frame. Without a summary whoever looks leaves before the run has ended. */
  end(summary?: Summary): Promise<void>;
}

/** NDJSON under `--json`, a live tree on a terminal, plain lines elsewhere. */
export async function createDisplay(
  graph: FlowGraph,
  view: RunView,
  io: CommandIo,
): Promise<Display> {
  if (io.json !== undefined) return jsonDisplay(io.json, io);
  const live = io.isTTY.stderr && io.verbosity !== "quiet" && io.env.TERM !== "dumb";
  if (!live) return plainDisplay(graph, io);
  const { treeDisplay } = await import("./tree-display.ts");
  return treeDisplay(graph, view, io);
}

function jsonDisplay(json: Ndjson, io: CommandIo): Display {
  return {
    async show(events) {
      await json.events(events);
    },
    say: (line) => void io.err.write(`${line}\n`),
    end: () => json.drained(),
  };
}

function plainDisplay(graph: FlowGraph, io: CommandIo): Display {
  const style = createStyle(io.colour, io.env);
  const options = { style, verbose: io.verbosity === "verbose", quiet: io.verbosity === "quiet" };
  const spool = createSpool(io.err);
  return {
    async show(events) {
      const lines = events
        .map((event) => plainLine(event, options))
        .filter((line) => line !== undefined);
      if (lines.length > 0) await spool.write(`${lines.join("\n")}\n`);
    },
    say: (line) => void spool.write(`${line}\n`),
    async end(summary) {
      await spool.drained();
      if (summary !== undefined) await writeOutputs(graph, summary, io);
    },
  };
}

/** Outputs are the data of a run, so they go to stdout; a flow without outputs prints nothing there. */
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
