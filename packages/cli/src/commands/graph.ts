/** `millrace graph`: a flow as a picture, or as text for tools that make one. */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type CommandIo, flagText, type Input } from "../command.ts";
import { usage } from "../errors.ts";
import { reason } from "../file-reason.ts";
import { toDot } from "../graph/dot.ts";
import { type Drawing, drawingOf } from "../graph/drawing.ts";
import { layoutOf } from "../graph/layout.ts";
import { toMermaid } from "../graph/mermaid.ts";
import { toSvg } from "../graph/svg.ts";
import { readableFlow } from "../readable-flow.ts";

/** Draws a flow that can be read, whether or not it is valid: a picture helps to see why it is not. */
export async function run(input: Input, io: CommandIo): Promise<number> {
  const [file = "-"] = input.args;
  const { graph } = await readableFlow(file, input, io);
  const drawing = drawingOf(graph);
  const format = io.json === undefined ? (flagText(input, "format") ?? "mermaid") : "json";
  const title = graph.title ?? graph.id;
  const text =
    format === "svg"
      ? toSvg(drawing, title)
      : format === "dot"
        ? toDot(drawing, title)
        : format === "json"
          ? `${JSON.stringify({ graph, ...placesOf(drawing) })}\n`
          : toMermaid(drawing);
  const output = flagText(input, "output");
  if (output === undefined) await io.out.write(text);
  else {
    await writeFile(resolve(io.cwd, output), text).catch((error: unknown) => {
      throw usage(`cannot write ${output}: ${reason(error)}`);
    });
  }
  return 0;
}

/** Every edge, and where each node stands, by its path. */
function placesOf(drawing: Drawing): { readonly edges: object[]; readonly layout: object } {
  const { boxes, lines } = layoutOf(drawing);
  const places = boxes.map(({ node, x, y, w, h, layer }) => [node.path, { x, y, w, h, layer }]);
  return { edges: lines.map(({ edge }) => edge), layout: Object.fromEntries(places) };
}
