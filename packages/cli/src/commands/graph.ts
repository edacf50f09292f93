/** `millrace graph`: a flow as a picture, or as text for tools that make one. */

import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import {
  createView,
  type ExecutionEvent,
  type FlowGraph,
  foldEvents,
  type NodeState,
} from "@millrace/contracts";
import {
  type Drawing,
  drawFlow,
  layoutDrawing,
  nodeStates,
  toDot,
  toMermaid,
  toSvg,
} from "@millrace/graph";
import { withApi } from "../api/command.ts";
import { eventsOf, runIdOf } from "../api/runs.ts";
import { option, serverCommand } from "../argv/flags.ts";
import { type CliCommand, type CommandIo, flagText, type Input } from "../argv/spec.ts";
import { cannotWrite, usage } from "../errors.ts";
import { askTemplate, isSlug } from "../run/find-flow.ts";
import { readableFlow } from "../run/load-flow.ts";

export const commands: readonly CliCommand[] = [
  serverCommand("graph", "draw a flow, or how far a run of it got", {
    args: [
      {
        name: "flow",
        summary: "a .flow file, a graph as JSON, - for stdin, or the slug of a template",
        complete: "template",
        orFile: true,
      },
    ],
    flags: [
      option(
        "run",
        "<id>",
        "in place of a flow: that of a kept run, its nodes in colours of their states",
        { complete: "run" },
      ),
      option(
        "format",
        "<format>",
        "mermaid (default), dot for Graphviz, svg, or json with every place",
        { short: "f", choices: ["mermaid", "dot", "svg", "json"] },
      ),
      option("output", "<file>", "write to this file", { short: "o" }),
    ],
    examples: [["graph hello.flow -f svg -o hello.svg", "a picture"]],
    run,
  }),
];

/** Draws a flow that can be read, whether or not it is valid: a picture helps to see why it is not. */
async function run(input: Input, io: CommandIo): Promise<number> {
  const { graph, states } = await pictured(input, io);
  const drawing = drawFlow(graph, states);
  const format = io.json === undefined ? (flagText(input, "format") ?? "mermaid") : "json";
  const told = states && { states: Object.fromEntries(states) };
  const title = graph.title ?? graph.id;
  const text =
    format === "svg"
      ? toSvg(drawing, title, graph.layout)
      : format === "dot"
        ? toDot(drawing, title)
        : format === "json"
          ? `${JSON.stringify({ graph, ...placesOf(drawing), ...told })}\n`
          : toMermaid(drawing);
  const output = flagText(input, "output");
  if (output === undefined) await io.out.write(text);
  else {
    await writeFile(resolve(io.cwd, output), text).catch((error: unknown) => {
      throw cannotWrite(output, error);
    });
  }
  return 0;
}

/** The flow to draw. `states`: those of its nodes, where it is the flow of a run. */
interface Pictured {
  readonly graph: FlowGraph;
  readonly states?: ReadonlyMap<string, NodeState>;
}

async function pictured(input: Input, io: CommandIo): Promise<Pictured> {
  const [name] = input.args;
  const runId = flagText(input, "run");
  if ((name === undefined) === (runId === undefined)) {
    throw usage("graph draws one flow: a file, a template, or --run ID");
  }
  if (name !== undefined && !(await isSlug(name, io))) return readableFlow(name, input, io);
  const what = name ?? runId ?? "";
  return withApi(
    input,
    io,
    undefined,
    async (api) => {
      if (name !== undefined) return { graph: (await askTemplate(name, api, io)).graph };
      const id = await runIdOf(what, api);
      const graph = await api.invoke("get_run_graph", { runId: id });
      const view = createView(id);
      for (const event of await eventsOf(id, api)) foldEvents(view, event as ExecutionEvent);
      return { graph, states: nodeStates(view) };
    },
    what,
  );
}

/** Every edge, and where each node stands, by its path. */
function placesOf(drawing: Drawing): { readonly edges: object[]; readonly layout: object } {
  const { boxes, lines } = layoutDrawing(drawing);
  const places = boxes.map(({ node, x, y, w, h, layer }) => [node.path, { x, y, w, h, layer }]);
  return { edges: lines.map(({ edge }) => edge), layout: Object.fromEntries(places) };
}
