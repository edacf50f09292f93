/** The tree of a run: its nodes with their states, and the way along the edges between them. */
import type { Drawing, DrawnEdge } from "@millrace/graph";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { NodeTree } from "../../parts/tree/node-tree.tsx";
import { useValue } from "../../state/use-value.ts";
import { useRun } from "./run-context.ts";
import { flowPathOf, idOf, runItems } from "./run-items.ts";

/** The tree "Nodes" at the moment that is looked at. */
export function RunNodes(): ComponentChildren {
  const { session, moment, node, select } = useRun();
  const { view, revision, at } = moment.shown.value;
  const graph = session.graph.value;
  const isRepeat = session.run.value?.retryOf != null;
  const edges = useValue(`${session.runId} ${graph !== undefined}`, async () => {
    const { drawFlow } = await import("../../flow-picture.ts");
    return graph === undefined ? [] : edgesOf(drawFlow(graph));
  });
  const items = useMemo(
    () => runItems({ graph, view, isRepeat }),
    [graph, view, revision, at, isRepeat],
  );
  return (
    <div class="run-nodes">
      <NodeTree
        items={items}
        selected={node}
        onSelect={(path) => select(path)}
        neighbours={(path, direction) => neighbourOf(edges.value ?? [], path, direction)}
        onOpen={() =>
          document.querySelector<HTMLElement>('.inspector [role="tab"][tabindex="0"]')?.focus()
        }
      />
      {view.trimmed > 0 && (
        <p class="muted">
          {view.trimmed} nodes of bodies are no longer kept; their events are in the tab Events.
        </p>
      )}
    </div>
  );
}

/** All edges, also those of bodies. */
function edgesOf({ nodes, edges }: Drawing): readonly DrawnEdge[] {
  return [...edges, ...nodes.flatMap(({ body }) => (body === undefined ? [] : edgesOf(body)))];
}

/** Where an edge leads from a node, in the same item of its body. */
function neighbourOf(
  edges: readonly DrawnEdge[],
  path: string,
  direction: "next" | "previous",
): string | undefined {
  const here = flowPathOf(path);
  const edge = edges.find(({ from, to }) => (direction === "next" ? from : to) === here);
  if (edge === undefined) return undefined;
  const target = direction === "next" ? edge.to : edge.from;
  return path.slice(0, path.length - idOf(path).length) + idOf(target);
}
