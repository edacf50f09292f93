/** Every event of a run as a table: by kind, by node, each with its JSON. */
import { EVENT_KINDS, type ExecutionEvent, type Kind, ndjson } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { saveText } from "../../parts/clipboard.ts";
import { ChoiceField } from "../../parts/fields.tsx";
import { formatDuration, formatTime } from "../../parts/format.ts";
import { Problem } from "../../parts/problem.tsx";
import { ValueView } from "../../parts/value-view/value-view.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { type VirtualRow, VirtualTable } from "../../parts/virtual-table.tsx";
import { nodeOf } from "../../state/event-log.ts";
import { useAction } from "../../state/use-action.ts";
import { summaryOf } from "./event-summary.ts";
import { LogPages } from "./log-pages.ts";
import { useCalm, useRun } from "./run-context.ts";
import { type Filter, useFiltered } from "./use-filtered.ts";

const COLUMNS = [
  { title: "Seq", width: "3.5rem" },
  { title: "Time", width: "4.75rem" },
  { title: "Kind", width: "8.25rem" },
  { title: "Node", width: "17%" },
  { title: "Content" },
] as const;

/** Events from which the table grows twice a second instead of each frame. */
const MANY = 2_000;
const CALM_MS = 500;

/** The tab "Events". */
export function Events(): ComponentChildren {
  const { session } = useRun();
  const { log, view } = session;
  session.revision.value;
  const [filter, setFilter] = useState<Filter>({});
  const [open, setOpen] = useState<ReadonlySet<number>>(NONE);
  const [, redraw] = useState(0);
  const pages = useRef<LogPages>(null);
  pages.current ??= new LogPages(session.page, () => redraw((before) => before + 1));
  const filtered = useFiltered(session, filter);
  const downloaded = useAction(() => downloadLog(session.runId, log.last, session.page));
  const last = useCalm(log.last, log.last > MANY ? CALM_MS : 0);
  const count = filtered === undefined ? last : filtered.events.length;
  const start = view.startedAt ?? 0;
  const isLive = view.summary === null && session.run.value?.summary === null;

  const eventAt = (index: number): ExecutionEvent | undefined => {
    if (filtered !== undefined) return filtered.events[index];
    return log.at(index + 1) ?? pages.current?.at(index + 1);
  };
  const toggle = (seq: number): void => {
    const next = new Set(open);
    if (!next.delete(seq)) next.add(seq);
    setOpen(next);
  };
  const row = (index: number): VirtualRow => {
    const event = eventAt(index);
    if (event === undefined) return { cells: [index + 1, "", "…", "", ""] };
    const { seq, ts, kind } = event;
    const isOpen = open.has(seq);
    return {
      cells: [
        <Button key="seq" aria-expanded={isOpen} onClick={() => toggle(seq)}>
          {seq}
        </Button>,
        <span key="time" title={formatTime(ts)}>
          +{formatDuration(Math.max(0, ts - start))}
        </span>,
        kind,
        <bdi key="node" title={nodeOf(event)}>
          {nodeOf(event)}
        </bdi>,
        <VisibleText key="content" text={summaryOf(event)} />,
      ],
      ...(isOpen && { details: <ValueView value={event as never} /> }),
    };
  };

  return (
    <div class="events">
      <div class="actions">
        <ChoiceField
          label="Kind"
          none="all"
          value={filter.kind ?? ""}
          options={EVENT_KINDS.filter((kind) => kind !== "snapshot")}
          onChosen={(kind) =>
            setFilter({ ...filter, kind: kind === "" ? undefined : (kind as Kind) })
          }
        />
        <label>
          Node
          <input
            type="search"
            placeholder="path"
            value={filter.node ?? ""}
            onChange={({ currentTarget: { value } }) =>
              setFilter({ ...filter, node: value.trim() === "" ? undefined : value.trim() })
            }
          />
        </label>
        <Button
          disabled={downloaded.isBusy || log.last === 0}
          onClick={() => void downloaded.run()}
        >
          Download NDJSON
        </Button>
        {filtered?.hasMore && (
          <Button disabled={filtered.isLoading} onClick={filtered.loadMore}>
            Load more
          </Button>
        )}
      </div>
      <Problem error={downloaded.error ?? filtered?.error ?? pages.current.error} />
      {count === 0 && (
        <p class="muted">
          {filtered === undefined ? "No events yet." : "No event matches the filter."}
        </p>
      )}
      <VirtualTable
        name="Events"
        columns={COLUMNS}
        count={count}
        row={row}
        rowsOf={`${filter.kind ?? ""} ${filter.node ?? ""}`}
        followsEnd={filtered === undefined && isLive}
      />
    </div>
  );
}

const NONE: ReadonlySet<number> = new Set();

/** Reads the whole log and offers the lines of the server, byte for byte, as `<runId>.ndjson`. */
async function downloadLog(
  runId: string,
  last: number,
  page: (after: number) => Promise<readonly ExecutionEvent[]>,
): Promise<void> {
  const lines: string[] = [];
  for (let after = 0; after < last; ) {
    const events = await page(after);
    const end = events.at(-1);
    if (end === undefined) break;
    lines.push(events.map((event) => ndjson.line(event)).join(""));
    after = end.seq;
  }
  saveText(`${runId}.ndjson`, lines.join(""), "application/x-ndjson");
}
