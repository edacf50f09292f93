/** Notices about the shown text: a restored draft, an old version, a text that is not kept. */
import type { ComponentChildren } from "preact";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/problem.tsx";
import { placeHref } from "../../router.ts";
import { refusal } from "../../state/meta.ts";
import { useAction } from "../../state/use-action.ts";
import type { FlowActions } from "./use-flow-actions.ts";
import type { OpenFlow } from "./use-flow-session.ts";

const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  hour12: false,
});
const dated = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** The notices above the panes. */
export function Notices({
  flow: { session, old },
  actions,
}: {
  readonly flow: OpenFlow;
  readonly actions: FlowActions;
}): ComponentChildren {
  const restored = session.restored.value;
  const kept = session.kept.value;
  return (
    <>
      {restored !== undefined && (
        <p class="notice">
          Draft of {timeOf(restored)} restored{" "}
          <Button onClick={() => session.discardDraft()}>Discard draft</Button>
          <Button onClick={() => session.keepDraft()}>Keep draft</Button>
        </p>
      )}
      {kept === "secret" && (
        <p class="notice">
          This text is not kept as a draft, as it holds what looks like a credential: a reload would
          lose what is not saved.
        </p>
      )}
      {kept === "full" && (
        <p class="notice">
          This text is not kept as a draft, as the browser has no room: a reload would lose what is
          not saved.
        </p>
      )}
      {old !== undefined && <OldVersion version={old.version} slug={old.slug} actions={actions} />}
    </>
  );
}

function OldVersion({
  version,
  slug,
  actions,
}: {
  readonly version: number;
  readonly slug: string;
  readonly actions: FlowActions;
}): ComponentChildren {
  const restore = useAction(() => actions.restore(version));
  const why = refusal("admin");
  return (
    <>
      <Problem error={restore.error} />
      <p class="notice">
        Version {version} is read-only.{" "}
        <a href={placeHref(["flows", slug])}>Open the newest version</a>{" "}
        <Button disabled={restore.isBusy} refusal={why} onClick={() => void restore.run()}>
          Restore version {version}
        </Button>
      </p>
    </>
  );
}

/** The time of day, with the date where it was another day. */
function timeOf(at: number): string {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  return (isToday ? clock : dated).format(at);
}
