/** The tree of a run: its nodes with their states, and the way along the edges between them. */
import type { Picture } from "@millrace/graph";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { pictureOf } from "../../editor/picture.ts";
import { formatCount } from "../../parts/format.ts";
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
  const { value: picture } = useValue(
    `${session.runId} ${graph !== undefined}`,
    async () => graph && pictureOf(graph),
  );
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
        neighbours={(path, direction) => picture && neighbourOf(picture, path, direction)}
        onOpen={() =>
          document.querySelector<HTMLElement>('.inspector [role="tab"][tabindex="0"]')?.focus()
        }
      />
      {view.trimmed > 0 && (
        <p class="muted">
          {formatCount(view.trimmed, "node of a body is", "nodes of bodies are")} no longer kept;
          their events are in the tab Events.
        </p>
      )}
    </div>
  );
}

/** Where an edge leads from a node, in the same item of its body. */
function neighbourOf(
  { lines }: Picture,
  path: string,
  direction: "next" | "previous",
): string | undefined {
  const here = flowPathOf(path);
  const [own, other] = direction === "next" ? (["from", "to"] as const) : (["to", "from"] as const);
  const target = lines.find(({ edge }) => edge[own] === here)?.edge[other];
  if (target === undefined) return undefined;
  return path.slice(0, path.length - idOf(path).length) + idOf(target);
}
