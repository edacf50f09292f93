/** The top of the screen of a run: its name, its state, and actions. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { backend } from "../../backend.ts";
import { Button } from "../../parts/button.tsx";
import {
  formatCost,
  formatCount,
  formatDuration,
  formatNumber,
  triggerName,
} from "../../parts/format.ts";
import { Heading } from "../../parts/heading.tsx";
import { lazily } from "../../parts/lazily.tsx";
import { Problem } from "../../parts/problem.tsx";
import { symbolOf } from "../../parts/run-status.tsx";
import { Time } from "../../parts/time.tsx";
import { Toolbar } from "../../parts/toolbar.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { placeHref } from "../../router.ts";
import { refusal } from "../../state/meta.ts";
import { useAction } from "../../state/use-action.ts";
import { useNow } from "../../state/use-now.ts";
import { useCalm, useRun } from "./run-context.ts";
import { durationOf } from "./summary.tsx";

/** Counts of nodes are told at most this often, in milliseconds: a screen reader would speak of nothing else. */
const COUNTS_MS = 2_000;
/** How often times that count from now are renewed, in milliseconds. */
const TICK_MS = 1_000;

const Rerun = lazily(async () => (await import("./rerun.tsx")).Rerun);

/** Heading, status, facts and the toolbar "Run". */
export function RunHeader(): ComponentChildren {
  const { session } = useRun();
  session.revision.value;
  const { view } = session;
  const run = session.run.value;
  const flow = view.flow ?? run?.flow;
  const title = flow?.title ?? flow?.id ?? session.runId;
  const tokens = view.usage.inputTokens + view.usage.outputTokens;
  return (
    <header class="run-header">
      <Heading title={title}>
        <VisibleText text={title} />
      </Heading>
      <p class="run-line">
        <span class="state run-state" data-state={view.state}>
          <span aria-hidden="true">{symbolOf(view.state)} </span>
          <span role="status" aria-label="Run status">
            {view.state}
          </span>
        </span>
        <Elapsed />
        {tokens > 0 && <span>{formatNumber(tokens)} tokens</span>}
        {tokens > 0 && (
          <span>{view.costUsd === null ? "cost unknown" : formatCost(view.costUsd)}</span>
        )}
        <Progress />
        <code class="muted">{session.runId}</code>
        {run?.template != null && (
          <a href={placeHref(["flows", run.template.slug], { v: run.template.version })}>
            {run.template.slug} v{run.template.version}
          </a>
        )}
        {run !== undefined && (
          <span class="muted">
            Started by {triggerName(run.trigger)} <Started at={run.createdAt} />
          </span>
        )}
      </p>
      <RunToolbar />
    </header>
  );
}

/** How long the run has taken, growing while it goes on. */
function Elapsed(): ComponentChildren {
  const { session } = useRun();
  session.revision.value;
  const { view } = session;
  const isLive = view.startedAt !== null && view.summary === null;
  const now = useNow(isLive ? TICK_MS : undefined);
  const took = durationOf({
    ...view,
    updatedAt: isLive ? Math.max(now, view.updatedAt) : view.updatedAt,
  });
  return took === undefined ? null : <span>{formatDuration(took)}</span>;
}

/** How long ago the run was started, renewed while it is looked at. */
function Started({ at }: { readonly at: string | number }): ComponentChildren {
  useNow(TICK_MS);
  return <Time at={at} />;
}

/** How many nodes are done. */
function Progress(): ComponentChildren {
  const { session } = useRun();
  session.revision.value;
  const { counts, nodeCount, summary } = session.view;
  const done = counts.succeeded + counts.failed + counts.skipped + counts.cancelled;
  const text = nodeCount === 0 ? "" : `${done} of ${formatCount(nodeCount, "node")} done`;
  const calm = useCalm(text, COUNTS_MS);
  return (
    <span role="status" aria-label="Nodes done">
      {summary === null ? calm : text}
    </span>
  );
}

function RunToolbar(): ComponentChildren {
  const { session } = useRun();
  session.revision.value;
  const { runId, view } = session;
  const { state, paused, summary } = view;
  const steer = useAction(async (command: "pause_run" | "resume_run" | "cancel_run") => {
    await backend.invoke(command, { runId });
  });
  const retryOf = session.run.value?.retryOf ?? null;
  const isLive = summary === null && state !== "cancelling";
  const why = refusal("run");
  const graph = session.graph.value;
  const [isAgain, setAgain] = useState(false);
  const control = (
    title: string,
    command: "pause_run" | "resume_run" | "cancel_run",
    kind?: string,
  ): ComponentChildren => (
    <Button
      class={kind}
      disabled={steer.isBusy}
      refusal={why}
      onClick={() => void steer.run(command)}
    >
      {title}
    </Button>
  );
  return (
    <>
      <Toolbar name="Run">
        {isLive && state === "running" && control("Pause run", "pause_run")}
        {isLive && paused?.reason === "operator" && control("Resume run", "resume_run")}
        {isLive && control("Cancel run", "cancel_run", "danger")}
        {summary !== null && graph !== undefined && graph.nodes.length > 0 && (
          <Button refusal={why} onClick={() => setAgain(true)}>
            Run again
          </Button>
        )}
        {retryOf !== null && <a href={placeHref(["runs", retryOf])}>Repeats {retryOf}</a>}
      </Toolbar>
      <Problem error={steer.error} />
      {isAgain && graph !== undefined && <Rerun graph={graph} onClose={() => setAgain(false)} />}
    </>
  );
}
