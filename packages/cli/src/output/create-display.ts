/** The three displays of a run: NDJSON, plain lines and a live tree. Each gets every event once. */
import type { FlowGraph, RunView } from "@millrace/contracts";
import type { CommandIo } from "../argv/spec.ts";
import { type Display, writeOutputs } from "./display.ts";
import type { Ndjson } from "./ndjson.ts";
import { plainLine, turnedAway } from "./plain.ts";
import { createSpool } from "./spool.ts";
import { createStyle } from "./style.ts";

export type { Display };

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
  const taken = new Map<string, readonly string[]>();
  const options = {
    style,
    verbose: io.verbosity === "verbose",
    quiet: io.verbosity === "quiet",
    because: (node: string) => turnedAway(graph, node, (from) => taken.get(from)),
  };
  const spool = createSpool(io.err);
  return {
    async show(events) {
      const lines = events
        .map((event) => {
          if (event.kind === "node.succeeded" && !event.node.includes("/")) {
            taken.set(event.node, event.ports ?? ["out"]);
          }
          return plainLine(event, options);
        })
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
