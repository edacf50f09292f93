/** The three ways to show a run. Each sees every event once, and the one folded view. */
import type { ExecutionEvent, FlowGraph, RunView, Summary } from "@millrace/contracts";
import type { CommandIo } from "./command.ts";
import { formatDuration } from "./duration.ts";
import type { Ndjson } from "./ndjson.ts";
import { plainLine } from "./render/plain.ts";
import { createScreen } from "./render/screen.ts";
import { createStyle } from "./render/style.ts";
import { clean } from "./render/text.ts";
import { treeLines } from "./render/tree.ts";

/** A display of one run; `show` resolves when the text is handed over, so that a slow reader slows only us. */
export interface Display {
  show(events: readonly ExecutionEvent[]): Promise<void>;
  /** A line for the person, beside the run itself. */
  say(line: string): void;
  end(summary: Summary): Promise<void>;
}

/** NDJSON under `--json`, a live tree on a terminal, plain lines elsewhere. */
export function createDisplay(graph: FlowGraph, view: RunView, io: CommandIo): Display {
  if (io.json !== undefined) return jsonDisplay(io.json, io);
  const live = io.isTTY.stderr && io.verbosity !== "quiet" && io.env.TERM !== "dumb";
  return live ? treeDisplay(graph, view, io) : plainDisplay(graph, io);
}

function jsonDisplay(json: Ndjson, io: CommandIo): Display {
  return {
    async show(events) {
      for (const event of events) if (!(await json.event(event))) return;
    },
    say: (line) => void io.err.write(`${line}\n`),
    end: () => Promise.resolve(),
  };
}

function plainDisplay(graph: FlowGraph, io: CommandIo): Display {
  const style = createStyle(io.colour, io.env);
  const options = { style, verbose: io.verbosity === "verbose", quiet: io.verbosity === "quiet" };
  return {
    async show(events) {
      const lines = events
        .map((event) => plainLine(event, options))
        .filter((line) => line !== undefined);
      if (lines.length > 0) await io.err.write(`${lines.join("\n")}\n`);
    },
    say: (line) => void io.err.write(`${line}\n`),
    end: (summary) => writeOutputs(graph, summary, io),
  };
}

function treeDisplay(graph: FlowGraph, view: RunView, io: CommandIo): Display {
  const style = createStyle(io.colour, io.env);
  const options = { style, verbose: io.verbosity === "verbose", quiet: false };
  const screen = createScreen(io, io.err, ({ columns, maxRows }) =>
    treeLines(view, graph, {
      style,
      columns,
      now: io.now(),
      interactive: io.interactive,
      ...(maxRows === undefined ? {} : { maxRows }),
    }),
  );
  return {
    show(events) {
      for (const event of events) {
        const line = event.kind === "log" ? plainLine(event, options) : undefined;
        if (line !== undefined) screen.above(line);
      }
      screen.touch();
      return Promise.resolve();
    },
    say: (line) => screen.above(line),
    async end(summary) {
      screen.end();
      await io.err.write(`${closingLine(graph, summary, io)}\n`);
      await writeOutputs(graph, summary, io);
    },
  };
}

function closingLine(graph: FlowGraph, summary: Summary, io: CommandIo): string {
  const style = createStyle(io.colour, io.env);
  const { status, counts, bodyCounts, usage } = summary;
  const sum = (key: keyof typeof counts) => counts[key] + (bodyCounts?.[key] ?? 0);
  const words = (["failed", "skipped", "cancelled"] as const)
    .filter((key) => sum(key) > 0)
    .map((key) => ` · ${sum(key)} ${key}`);
  const tokens = usage.calls > 0 ? `   tokens ${usage.inputTokens + usage.outputTokens}` : "";
  const paint = status === "succeeded" ? style.good : style.bad;
  const symbol = style.symbol(status === "invalid" ? "failed" : status);
  const head = `${symbol} ${paint(`${clean(graph.id)} ${status}`)} in ${formatDuration(summary.durationMs)}`;
  const why =
    summary.error === undefined
      ? ""
      : `\n  ${summary.error.node === undefined ? "" : `${clean(summary.error.node)}: `}${summary.error.code}: ${clean(summary.error.message)}`;
  return `${head}   nodes ${sum("succeeded")} ok${words.join("")}${tokens}${why}`;
}

/** Outputs are the data of a run, so they go to stdout; a flow without outputs prints nothing there. */
async function writeOutputs(graph: FlowGraph, summary: Summary, io: CommandIo): Promise<void> {
  if (summary.status !== "succeeded" || graph.outputs.length === 0) return;
  const refs = summary.outputRefs ?? {};
  const values = Object.keys(refs).length === 0 ? summary.outputs : { ...summary.outputs, ...refs };
  await io.out.write(`${JSON.stringify(values, null, 2)}\n`);
}
