/** Details of the chosen node: its fields, output, lines, calls, attempts and text. */
import type { NodeView } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { formatDuration } from "../../parts/format.ts";
import { lazily } from "../../parts/lazily.tsx";
import { StateWord } from "../../parts/run-status.tsx";
import { type Tab, Tabs } from "../../parts/tabs.tsx";
import { findNode } from "../../state/flow-nodes.ts";
import { refusal } from "../../state/meta.ts";
import { CallsTab } from "./calls-tab.tsx";
import { DefinitionTab } from "./definition-tab.tsx";
import { AttemptsTab, InputTab, LogTab, type NodeTabProps, OutputTab } from "./node-tabs.tsx";
import { useRun } from "./run-context.ts";
import { flowPathOf, topOf } from "./run-items.ts";
import { useNodeEvents } from "./use-node-events.ts";

const Rerun = lazily(async () => (await import("./rerun.tsx")).Rerun);

/** The complementary region "Inspector". `wanted`: the tab that something else on the screen asked for. */
export function Inspector({
  tab,
  onTab,
}: {
  readonly tab: string | undefined;
  readonly onTab: (tab: string) => void;
}): ComponentChildren {
  const { node } = useRun();
  const isItem = node !== undefined && /(\]|~\d+)$/.test(node);
  return (
    <aside class="inspector" aria-label="Inspector">
      {node === undefined ? (
        <p class="muted">Choose a node to see what it was given and what it did.</p>
      ) : isItem ? (
        <p class="muted">
          <bdi>{node}</bdi> is one pass through a body: choose a node in it.
        </p>
      ) : (
        <NodeDetails key={node} path={node} tab={tab} onTab={onTab} />
      )}
    </aside>
  );
}

function NodeDetails({
  path,
  tab,
  onTab,
}: {
  readonly path: string;
  readonly tab: string | undefined;
  readonly onTab: (tab: string) => void;
}): ComponentChildren {
  const { session, moment, attempt: chosen } = useRun();
  session.ofNode(path).value;
  const graph = session.graph.value;
  const { view } = moment.shown.value;
  const live = view.nodes.get(path);
  const read = useNodeEvents(session, moment, path);
  const latest = live?.attempt ?? 1;
  const attempt = chosen ?? latest;
  const props: NodeTabProps = { path, attempt, live, read };
  const tabs: readonly Tab[] = [
    { id: "input", title: "Input", panel: () => <InputTab {...props} /> },
    { id: "output", title: "Output", panel: () => <OutputTab {...props} /> },
    { id: "log", title: "Log", panel: () => <LogTab {...props} /> },
    { id: "calls", title: "Model calls", panel: () => <CallsTab {...props} /> },
    { id: "attempts", title: "Attempts", panel: () => <AttemptsTab {...props} /> },
    { id: "definition", title: "Definition", panel: () => <DefinitionTab path={path} /> },
  ];
  return (
    <>
      <div class="node-head">
        <h2>
          <bdi>{path}</bdi>
        </h2>
        <RerunButton path={path} />
      </div>
      <p class="node-line">
        <span class="muted">
          {live?.type ?? (graph && findNode(graph, flowPathOf(path)))?.node.type}
        </span>
        {live !== undefined && <StateWord state={live.state} />}
        {live !== undefined && (
          <span class="muted">
            attempt {attempt} of {latest}
          </span>
        )}
        <Duration node={live} />
      </p>
      <Tabs name="Node details" tabs={tabs} chosen={tab ?? firstTab(live)} onChoose={onTab} />
    </>
  );
}

/** First tab: the lines of a failed or a running node, else its output. */
function firstTab(node: NodeView | undefined): string {
  if (node === undefined) return "definition";
  return node.state === "failed" || node.state === "running" ? "log" : "output";
}

function Duration({ node }: { readonly node: NodeView | undefined }): ComponentChildren {
  if (node?.durationMs === undefined) return null;
  return <span class="muted">{formatDuration(node.durationMs)}</span>;
}

function RerunButton({ path }: { readonly path: string }): ComponentChildren {
  const { session } = useRun();
  const [isOpen, setOpen] = useState(false);
  const graph = session.graph.value;
  const top = topOf(path);
  const isKnown = graph?.nodes.some(({ id }) => id === top) ?? false;
  session.revision.value;
  const why =
    refusal("run") ??
    (session.view.summary === null ? "the run has not ended" : undefined) ??
    (isKnown ? undefined : "the node is not in the flow of this run");
  return (
    <>
      <Button class="rerun" refusal={why} onClick={() => setOpen(true)}>
        Rerun from here
      </Button>
      {isOpen && graph !== undefined && (
        <Rerun node={top} graph={graph} onClose={() => setOpen(false)} />
      )}
    </>
  );
}
