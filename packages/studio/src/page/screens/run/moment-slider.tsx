/** The slider "Position" under the picture and the timeline: which event of a run the screen shows. */
import type { ComponentChildren } from "preact";
import { formatDuration } from "../../parts/format.ts";
import { Problem } from "../../parts/problem.tsx";
import { useRun } from "./run-context.ts";

/** Moves through the run: Home is the first event, the arrows move by one, End is now. */
export function MomentSlider(): ComponentChildren {
  const { session, moment } = useRun();
  session.revision.value;
  const { view, at: shownAt } = moment.shown.value;
  const at = moment.at.value;
  const since = Math.max(0, view.updatedAt - (view.startedAt ?? view.updatedAt));
  const { last } = session.log;
  const value = Math.min(at ?? last, last);
  const where = at === undefined ? "now" : `event ${value} of ${last}`;
  const text = `${where}, ${at === shownAt ? formatDuration(since) : "reading…"}`;
  return (
    <>
      <div class="moment">
        <input
          type="range"
          aria-label="Position"
          aria-valuetext={text}
          min={Math.min(1, last)}
          max={last}
          step={1}
          value={value}
          disabled={last === 0}
          onInput={(event) => {
            const seq = Number(event.currentTarget.value);
            moment.goTo(seq >= last ? undefined : seq);
          }}
        />
        <span class="moment-text" aria-hidden="true">
          {text}
        </span>
      </div>
      <Problem error={moment.error.value} />
    </>
  );
}
