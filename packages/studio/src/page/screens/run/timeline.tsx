/** The tab "Timeline": every attempt of every node as a bar. */
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { Gantt } from "../../parts/gantt.tsx";
import { useNow } from "../../state/use-now.ts";
import { MomentSlider } from "./moment-slider.tsx";
import { useCalm, useRun } from "./run-context.ts";
import { timelineRows } from "./timeline-rows.ts";

/** Spans from which the rows are made anew twice a second instead of each frame. */
const MANY_SPANS = 2_000;
const CALM_MS = 500;
/** How often the bars of a live run grow, in milliseconds. */
const TICK_MS = 1_000;

/** The table "Timeline" with the slider "Position". */
export function Timeline(): ComponentChildren {
  const { session, moment, node, attempt, select } = useRun();
  const { at, view, revision } = moment.shown.value;
  const { trace } = session;
  const isMany = trace.spans.size > MANY_SPANS;
  const isLive = at === undefined && view.summary === null && view.seq > 0;
  const tick = useNow(isLive ? TICK_MS : undefined);
  const now = isLive ? Math.max(view.updatedAt, tick) : view.updatedAt;
  const stamp = useCalm(`${revision} ${at ?? "now"} ${tick}`, isMany ? CALM_MS : 0);
  const { rows, time } = useMemo(() => {
    const options = { at, time: now, selected: node, attempt };
    return { rows: timelineRows(trace, options), time: now };
  }, [trace, stamp, node, attempt]);
  const from = trace.startedAt ?? view.startedAt ?? time;
  const to = at === undefined ? time : trace.updatedAt;
  return (
    <div class="timeline">
      <MomentSlider />
      {rows.length === 0 ? (
        <p class="muted">No node has begun{at === undefined ? " yet" : " at this moment"}.</p>
      ) : (
        <Gantt
          rows={rows}
          time={{ from, to: Math.max(to, from + 1) }}
          onSelect={(row) => select(row.path, row.attempt)}
        />
      )}
      {trace.since > 0 && (
        <p class="muted">
          The run is long: what ended before event {trace.since} is shown as far as its state tells.
        </p>
      )}
      {trace.trimmed > 0 && (
        <p class="muted">The oldest {trace.trimmed} spans of bodies are not shown.</p>
      )}
    </div>
  );
}
