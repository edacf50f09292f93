/** The columns of the table of runs. */
import { type RunSummary, startedBy } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { Button } from "../../parts/button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { formatCost, formatDuration, formatNumber } from "../../parts/format.ts";
import { StateWord } from "../../parts/run-status.tsx";
import { Time } from "../../parts/time.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { placeHref, setQuery } from "../../router.ts";
import { tagName } from "./run-filter.ts";

/** Options of the columns. */
export interface RunColumnsOptions {
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (runId: string, isSelected: boolean) => void;
  /** The time up to which runs that have not ended are counted. */
  readonly now: number;
}

/** Columns: choice, state, flow, run, start, duration, what started it, tags, tokens, cost. */
export function runColumns({
  selected,
  onSelect,
  now,
}: RunColumnsOptions): readonly Column<RunSummary>[] {
  return [
    {
      title: "Select",
      isUntitled: true,
      cell: ({ runId }) => (
        <input
          type="checkbox"
          class="run-choice"
          aria-label={`Select ${runId}`}
          checked={selected.has(runId)}
          onChange={(event) => onSelect(runId, event.currentTarget.checked)}
        />
      ),
    },
    { title: "Status", cell: ({ status }) => <StateWord state={status} /> },
    { title: "Flow", cell: ({ flow }) => <span title={flow.title}>{flow.id}</span> },
    {
      title: "Run",
      isHead: true,
      cell: ({ runId }) => (
        <a class="run-id" href={placeHref(["runs", runId])}>
          {runId}
        </a>
      ),
    },
    { title: "Started", cell: ({ startedAt, createdAt }) => <Time at={startedAt ?? createdAt} /> },
    { title: "Duration", isNumber: true, cell: (run) => durationOf(run, now) },
    { title: "Trigger", cell: startedBy },
    { title: "Tags", cell: ({ tags }) => <Tags tags={tags} /> },
    { title: "Tokens", isNumber: true, cell: ({ summary }) => tokensOf(summary) },
    {
      title: "Cost",
      isNumber: true,
      cell: ({ summary }) => (summary === null ? <Nothing /> : formatCost(summary.costUsd)),
    },
  ];
}

function durationOf({ summary, startedAt }: RunSummary, now: number): ComponentChildren {
  if (summary !== null) return formatDuration(summary.durationMs);
  if (startedAt === null) return <Nothing />;
  return formatDuration(Math.max(0, now - Date.parse(startedAt)));
}

function tokensOf(summary: RunSummary["summary"]): ComponentChildren {
  if (summary === null) return <Nothing />;
  return formatNumber(summary.usage.inputTokens + summary.usage.outputTokens);
}

function Tags({ tags }: { readonly tags: RunSummary["tags"] }): ComponentChildren {
  return (
    <span class="chips">
      {Object.entries(tags).map(([name, value]) => (
        <Button
          key={name}
          class="chip"
          title="Show runs with this tag"
          onClick={() => setQuery({ [tagName(name)]: value })}
        >
          <VisibleText text={`${name}=${value}`} />
        </Button>
      ))}
    </span>
  );
}

function Nothing(): ComponentChildren {
  return <span class="muted">–</span>;
}
