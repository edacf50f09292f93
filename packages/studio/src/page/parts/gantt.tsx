/** Spans of time as bars beside the names of what lasted, one row each. */
import type { SpanKind, SpanState } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";
import { formatDuration } from "./format.ts";
import { VirtualTable } from "./virtual-table.tsx";
import "./gantt.css";

/** A part of a row. */
export interface GanttSegment {
  readonly kind: SpanKind;
  readonly state: SpanState;
  readonly from: number;
  readonly to: number;
  readonly title: string;
}

/** One attempt of a node. The first segment is the attempt itself, the others lie on it. */
export interface GanttRow {
  readonly key: number;
  readonly path: string;
  readonly attempt: number;
  readonly segments: readonly GanttSegment[];
  readonly isSelected: boolean;
}

/** A window of time, in epoch milliseconds. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

const COLUMNS = [
  { title: "Node", width: "34%" },
  { title: "Attempt", width: "4.75rem" },
  { title: "Duration", width: "5.5rem" },
  { title: "Time" },
] as const;

/** The table "Timeline". */
export function Gantt({
  rows,
  time,
  onSelect,
}: {
  readonly rows: readonly GanttRow[];
  readonly time: TimeWindow;
  readonly onSelect: (row: GanttRow) => void;
}): ComponentChildren {
  return (
    <VirtualTable
      name="Timeline"
      columns={COLUMNS}
      count={rows.length}
      row={(index) => {
        const row = rows[index] as GanttRow;
        const { path, attempt, segments, isSelected } = row;
        const [own] = segments;
        const duration = own === undefined ? "" : formatDuration(own.to - own.from);
        const depth = path.split("/").length - 1;
        return {
          name: `${path}, attempt ${attempt}, ${duration}`,
          isSelected,
          cells: [
            <Button
              key="node"
              title={path}
              aria-current={isSelected ? "true" : undefined}
              style={{ marginInlineStart: `${depth * 0.75}rem` }}
              onClick={() => onSelect(row)}
            >
              <bdi>{path}</bdi>
            </Button>,
            attempt,
            duration,
            <Bars key="time" segments={segments} time={time} />,
          ],
        };
      }}
    />
  );
}

function Bars({
  segments,
  time,
}: {
  readonly segments: readonly GanttSegment[];
  readonly time: TimeWindow;
}): ComponentChildren {
  const whole = Math.max(1, time.to - time.from);
  const share = (ms: number): string => `${Math.min(100, Math.max(0, (100 * ms) / whole))}%`;
  return (
    <div class="bars" aria-hidden="true">
      {segments.map(({ kind, state, from, to, title }, at) => (
        <span
          key={at}
          class="bar"
          data-kind={kind}
          data-state={state}
          title={`${title}, ${formatDuration(to - from)}`}
          style={{ insetInlineStart: share(from - time.from), width: share(to - from) }}
        />
      ))}
    </div>
  );
}
