/** The history: every run that the server keeps, newest first, live; two of them can be compared. */
import type { RunSummary } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { backend, serverUrl } from "../../backend.ts";
import { Button } from "../../parts/button.tsx";
import { DataTable } from "../../parts/data-table.tsx";
import { Heading } from "../../parts/heading.tsx";
import { ListView } from "../../parts/list-screen.tsx";
import { navigate, placeHref, type ScreenProps } from "../../router.ts";
import { useList } from "../../state/use-list.ts";
import { useNow } from "../../state/use-now.ts";
import { runColumns } from "./run-columns.tsx";
import { filterOf } from "./run-filter.ts";
import { RunsFilters } from "./runs-filters.tsx";
import "./runs.css";

/** How often the durations of live runs are renewed, in milliseconds. */
const LIVE_MS = 1_000;
/** How often the times are renewed where no run is live, in milliseconds. */
const IDLE_MS = 30_000;

/** The list of runs with its filters. */
export function RunsScreen({ place: { query } }: ScreenProps): ComponentChildren {
  const list = useList<RunSummary>({
    key: `${query}`,
    load: (cursor) =>
      backend.invoke("list_runs", {
        ...filterOf(query),
        ...(cursor !== undefined && { cursor }),
      }),
    changedBy: ({ kind }) => kind.startsWith("run.") || kind === "summary",
  });
  const isFiltered = Object.keys(filterOf(query)).length > 0;
  return (
    <>
      <Heading title="Runs" />
      <RunsFilters query={query} />
      <ListView list={list} empty={isFiltered ? <NoneFits /> : <NoRuns />}>
        {(runs) => <RunsTable runs={runs} />}
      </ListView>
    </>
  );
}

function RunsTable({ runs }: { readonly runs: readonly RunSummary[] }): ComponentChildren {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const isLive = runs.some(({ startedAt, summary }) => startedAt !== null && summary === null);
  const now = useNow(isLive ? LIVE_MS : IDLE_MS);
  const columns = useMemo(
    () =>
      runColumns({
        selected: chosen,
        onSelect: (runId, isSelected) => setChosen((before) => withOne(before, runId, isSelected)),
        now,
      }),
    [chosen, now],
  );
  // A run that left the list is no longer chosen; the older one of two comes first.
  const selected = runs.filter(({ runId }) => chosen.has(runId)).reverse();
  const [a, b] = selected;
  const isPair = selected.length === 2;
  return (
    <>
      <div class="actions">
        <Button
          disabled={!isPair}
          title={isPair ? undefined : "select two runs"}
          onClick={() => navigate(placeHref(["compare"], { a: a?.runId, b: b?.runId }))}
        >
          Compare
        </Button>
        <span class="muted">
          {selected.length === 0
            ? "Select two runs to compare them."
            : `${selected.length} selected`}
        </span>
      </div>
      <DataTable name="Runs" columns={columns} rows={runs} keyOf={({ runId }) => runId} />
    </>
  );
}

function withOne(before: ReadonlySet<string>, runId: string, isIn: boolean): ReadonlySet<string> {
  const next = new Set(before);
  if (isIn) next.add(runId);
  else next.delete(runId);
  return next;
}

function NoneFits(): ComponentChildren {
  return (
    <p>
      No run matches these filters. <a href={placeHref(["runs"])}>Show all runs</a>
    </p>
  );
}

function NoRuns(): ComponentChildren {
  return (
    <section class="empty">
      <h2>No runs yet</h2>
      <p>A run is started in one of three ways:</p>
      <ol>
        <li>
          in this page: open a flow of the list <a href={placeHref(["flows"])}>Flows</a> and choose
          “Run”;
        </li>
        <li>
          with the command line: <pre>millrace run &lt;flow&gt; --server {serverUrl}</pre>
        </li>
        <li>
          from a program, through the API:{" "}
          <pre>
            {`curl ${serverUrl}/api/runs -H 'content-type: application/json' -d '{ "template": "<flow>" }'`}
          </pre>
        </li>
      </ol>
      <p>
        Schedules and webhooks start runs as well: see{" "}
        <a href={placeHref(["triggers", "schedules"])}>Triggers</a>.
      </p>
    </section>
  );
}
