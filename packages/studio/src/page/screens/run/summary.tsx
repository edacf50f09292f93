/** The tab "Summary": how many nodes did what, and what the models cost. */
import type { Counts } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { Button } from "../../parts/button.tsx";
import { formatCost, formatDuration, formatNumber, triggerName } from "../../parts/format.ts";
import { Time } from "../../parts/time.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { placeHref } from "../../router.ts";
import { useRun } from "./run-context.ts";
import "../../parts/data-table.css";

/** Facts about the run at this moment. */
export function Summary(): ComponentChildren {
  const { session, moment } = useRun();
  const { view } = moment.shown.value;
  const run = session.run.value;
  const { counts, bodyCounts, usage, costUsd, nodeCount, summary } = view;
  const hasBodies = Object.values(bodyCounts).some((count) => count > 0);
  const took = durationOf(view);
  const { cachedInputTokens = 0, reasoningTokens = 0 } = usage as {
    readonly cachedInputTokens?: number;
    readonly reasoningTokens?: number;
  };
  return (
    <div class="summary">
      <table aria-label="Nodes by state">
        <thead>
          <tr>
            <th scope="col">Nodes</th>
            {STATES.map((state) => (
              <th key={state} scope="col">
                {state}
              </th>
            ))}
            <th scope="col">all</th>
          </tr>
        </thead>
        <tbody>
          <CountsRow title="of the flow" counts={counts} all={nodeCount} />
          {hasBodies && <CountsRow title="in bodies" counts={bodyCounts} />}
        </tbody>
      </table>
      <dl class="facts">
        <Fact title="Duration">{took === undefined ? "–" : formatDuration(took)}</Fact>
        <Fact title="Tokens in">{formatNumber(usage.inputTokens)}</Fact>
        <Fact title="Tokens out">{formatNumber(usage.outputTokens)}</Fact>
        {cachedInputTokens > 0 && (
          <Fact title="Tokens from a cache">{formatNumber(cachedInputTokens)}</Fact>
        )}
        {reasoningTokens > 0 && (
          <Fact title="Tokens of reasoning">{formatNumber(reasoningTokens)}</Fact>
        )}
        <Fact title="Cost">{formatCost(costUsd)}</Fact>
        <Fact title="Warnings">{formatNumber(view.warnings)}</Fact>
        <Fact title="Events">{formatNumber(view.seq)}</Fact>
        {summary !== null && <Fact title="Exit code">{summary.exitCode}</Fact>}
        {run !== undefined && (
          <>
            <Fact title="Started by">{triggerName(run.trigger)}</Fact>
            <Fact title="Created">
              <Time at={run.createdAt} />
            </Fact>
            <Fact title="Ended">
              <Time at={run.endedAt} />
            </Fact>
            {Object.entries(run.tags).map(([tag, value]) => (
              <Fact key={tag} title={`Tag ${tag}`}>
                <a href={placeHref(["runs"], { [`tag.${tag}`]: value })}>
                  <VisibleText text={value} />
                </a>
              </Fact>
            ))}
          </>
        )}
      </dl>
      {view.failures.length > 0 && <Failures />}
    </div>
  );
}

const STATES = ["succeeded", "failed", "skipped", "cancelled"] as const;

function CountsRow({
  title,
  counts,
  all,
}: {
  readonly title: string;
  readonly counts: Counts;
  readonly all?: number;
}): ComponentChildren {
  return (
    <tr>
      <th scope="row">{title}</th>
      {STATES.map((state) => (
        <td key={state}>{formatNumber(counts[state])}</td>
      ))}
      <td>{all === undefined ? "" : formatNumber(all)}</td>
    </tr>
  );
}

function Fact({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): ComponentChildren {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Failures(): ComponentChildren {
  const { moment, select } = useRun();
  const { failures } = moment.shown.value.view;
  return (
    <>
      <h2>Failures</h2>
      <ul class="failures">
        {failures.map(({ node, attempt, code, message, routed }) => (
          <li key={`${node} ${attempt}`}>
            <Button onClick={() => select(node, attempt)}>
              <bdi>{node}</bdi>
            </Button>{" "}
            <code>{code}</code> <VisibleText text={message} />{" "}
            <span class="muted">{ROUTES[routed] ?? routed}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

const ROUTES: Readonly<Record<string, string>> = {
  none: "fails the run",
  port: "handled by its error port",
  default: "replaced by a default",
  parent: "passed to the node around it",
};

/** How long a run has taken so far, in milliseconds; undefined: it has not begun. */
export function durationOf(view: {
  readonly startedAt: number | null;
  readonly updatedAt: number;
  readonly summary: { readonly durationMs: number } | null;
}): number | undefined {
  if (view.summary !== null) return view.summary.durationMs;
  return view.startedAt === null ? undefined : Math.max(0, view.updatedAt - view.startedAt);
}
