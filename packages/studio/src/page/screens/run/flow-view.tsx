/** The tab "Flow" of a run: the picture of the flow with the states of its nodes. */
import type { FlowGraph, RunView } from "@millrace/contracts";
import type { Picture, Pins } from "@millrace/graph";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { Canvas, type NodeDetails } from "../../canvas/canvas.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useValue } from "../../state/use-value.ts";
import { MomentSlider } from "./moment-slider.tsx";
import { useRun } from "./run-context.ts";
import { flowPathOf, runPathOf } from "./run-items.ts";

type Graphs = typeof import("../../flow-picture.ts");

/** The canvas with the slider "Position". */
export function FlowView(): ComponentChildren {
  const { session, moment, node, select } = useRun();
  const graph = session.graph.value;
  const { view, revision, at } = moment.shown.value;
  const loaded = useValue(`${session.runId} ${graph !== undefined}`, async () => {
    const graphs = await import("../../flow-picture.ts");
    return { graphs, picture: graph && pictureOf(graph, graphs) };
  });
  const { graphs, picture } = loaded.value ?? {};
  const details = useMemo(
    () => (graphs === undefined ? NO_DETAILS : detailsOf(view, graphs)),
    [graphs, view, revision, at],
  );
  return (
    <div class="flow-view">
      <Problem error={loaded.error} />
      {picture === undefined ? (
        <p class="muted">Loading…</p>
      ) : (
        <Canvas
          picture={picture}
          details={details}
          selected={node === undefined ? undefined : flowPathOf(node)}
          onSelect={(path) => select(runPathOf(view, path))}
          title={graph?.id ?? "flow"}
        />
      )}
      <MomentSlider />
    </div>
  );
}

const NO_DETAILS: ReadonlyMap<string, NodeDetails> = new Map();

function pictureOf(graph: FlowGraph, { drawFlow, layoutDrawing }: Graphs): Picture {
  return layoutDrawing(drawFlow(graph), graph.layout as Pins);
}

function detailsOf(view: RunView, { nodeStates }: Graphs): ReadonlyMap<string, NodeDetails> {
  const details = new Map<string, NodeDetails>();
  for (const [path, state] of nodeStates(view)) {
    const live = view.nodes.get(path);
    const { durationMs, progress } = live ?? {};
    details.set(path, {
      state,
      ...(durationMs !== undefined && { durationMs }),
      ...(progress !== undefined && { progress }),
    });
  }
  return details;
}
