/** The tab "Flow" of a run: the picture of the flow with the states of its nodes. */
import type { RunView } from "@millrace/contracts";
import { nodeStates } from "@millrace/graph";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { Canvas, type NodeDetails } from "../../canvas/canvas.tsx";
import { pictureOf } from "../../editor/picture.ts";
import { Problem } from "../../parts/problem.tsx";
import { useValue } from "../../state/use-value.ts";
import { MomentSlider } from "./moment-slider.tsx";
import { useRun } from "./run-context.ts";
import { flowPathOf, runPathOf } from "./run-items.ts";

/** The canvas with the slider "Position". */
export function FlowView(): ComponentChildren {
  const { session, moment, node, select } = useRun();
  const graph = session.graph.value;
  const { view, revision, at } = moment.shown.value;
  const { value: picture, error } = useValue(
    `${session.runId} ${graph !== undefined}`,
    async () => graph && pictureOf(graph),
  );
  const details = useMemo(() => detailsOf(view), [view, revision, at]);
  return (
    <div class="flow-view">
      <Problem error={error} />
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

function detailsOf(view: RunView): ReadonlyMap<string, NodeDetails> {
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
