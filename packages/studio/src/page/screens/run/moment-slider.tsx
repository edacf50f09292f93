/** The slider under the picture and the timeline. */
import type { ComponentChildren } from "preact";
import { formatDuration } from "../../parts/format.ts";
import { Position } from "../../parts/position.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useRun } from "./run-context.ts";

/** Moves through the run. */
export function MomentSlider(): ComponentChildren {
  const { session, moment } = useRun();
  session.revision.value;
  const { view, at: shownAt } = moment.shown.value;
  const at = moment.at.value;
  const since = Math.max(0, view.updatedAt - (view.startedAt ?? view.updatedAt));
  const isRead = at === shownAt;
  return (
    <>
      <Position
        at={at}
        last={session.log.last}
        text={isRead ? formatDuration(since) : "reading…"}
        onChange={moment.goTo}
      />
      {moment.error.value !== undefined && <Problem error={moment.error.value} />}
    </>
  );
}
