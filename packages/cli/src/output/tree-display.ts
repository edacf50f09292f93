/** A run on a terminal: a live tree, log lines above it, and a closing line. */

import { stripVTControlCharacters } from "node:util";
import type { FlowGraph, RunView, Summary } from "@millrace/contracts";
import type { CommandIo } from "../argv/spec.ts";
import { formatDuration } from "../argv/values.ts";
import { width } from "./cells.ts";
import { type Display, writeOutputs } from "./display.ts";
import { plainLine } from "./plain.ts";
import { createScreen, DEFAULT_COLUMNS } from "./screen.ts";
import { createStyle } from "./style.ts";
import { clean } from "./text.ts";
import { treeLines } from "./tree.ts";

/** The tree, redrawn in place while the run goes on, and printed in full when it has ended. */
export function treeDisplay(graph: FlowGraph, view: RunView, io: CommandIo): Display {
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
      return screen.ready();
    },
    say: (line) => screen.above(line),
    async end(summary) {
      await screen.end();
      if (summary === undefined) return;
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
  const isPaused = summary.error?.code === "paused";
  const paint = status === "succeeded" ? style.good : isPaused ? style.warn : style.bad;
  const symbol = style.symbol(isPaused ? "waiting" : status === "invalid" ? "failed" : status);
  const word = isPaused ? "paused" : status;
  const head = `${symbol.paint(symbol.text)} ${paint(`${clean(graph.id)} ${word}`)} in ${formatDuration(summary.durationMs)}`;
  const why =
    summary.error === undefined
      ? ""
      : `\n  ${summary.error.node === undefined ? "" : `${clean(summary.error.node)}: `}${summary.error.code}: ${clean(summary.error.message)}`;
  const counted = `nodes ${sum("succeeded")} ok${words.join("")}${tokens}`;
  const { columns } = io.size();
  const fits =
    width(`${stripVTControlCharacters(head)}   ${counted}`) <= (columns || DEFAULT_COLUMNS);
  return `${head}${fits ? "   " : "\n  "}${counted}${why}`;
}
