/** The screen of a run: its nodes, its picture and timeline, its events, and all that is known of the chosen node. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { backend, hasCode, isUnreachable, staleSince } from "../../backend.ts";
import { Age } from "../../parts/age.tsx";
import { Heading } from "../../parts/heading.tsx";
import { lazily } from "../../parts/lazily.tsx";
import { Problem } from "../../parts/problem.tsx";
import { type Tab, Tabs } from "../../parts/tabs.tsx";
import { placeHref, type ScreenProps, setQuery } from "../../router.ts";
import { openRun, type RunSession } from "../../state/run-session.ts";
import { Failure, failureOf } from "./failure.tsx";
import { FlowView } from "./flow-view.tsx";
import { Inspector } from "./inspector.tsx";
import { createMoment, type Moment } from "./moment.ts";
import { RunNodes } from "./nodes.tsx";
import { RunProvider, type RunScreenContext, useRun } from "./run-context.ts";
import { RunHeader } from "./run-header.tsx";
import { RunValues } from "./run-values.tsx";
import { Summary } from "./summary.tsx";
import "./run.css";

/** Pause after the last move of the slider before it is written to the address, in milliseconds: browsers bound how often that may be. */
const ADDRESS_MS = 250;

const Events = lazily(async () => (await import("./events.tsx")).Events);
const Timeline = lazily(async () => (await import("./timeline.tsx")).Timeline);
const Questions = lazily(async () => (await import("./questions.tsx")).Questions);

/** A run, at `#/runs/<id>`. */
export function RunScreen({ place }: ScreenProps): ComponentChildren {
  const runId = place.path[1] ?? "";
  const [session, setSession] = useState<RunSession>();
  useEffect(() => {
    const opened = openRun(runId, { backend });
    setSession(opened);
    return () => opened.close();
  }, [runId]);
  if (session === undefined) return <p class="muted">Loading…</p>;
  return <Opened key={session.runId} session={session} place={place} />;
}

function Opened({
  session,
  place,
}: ScreenProps & { readonly session: RunSession }): ComponentChildren {
  const error = session.error.value;
  const isRead = session.run.value !== undefined;
  if (!isRead && error !== undefined && !isUnreachable(error)) {
    const isMissing = hasCode(error, "not_found");
    return (
      <>
        <Heading title={isMissing ? "Run not found" : "Run not shown"} />
        <Problem error={error} />
        <p>
          {isMissing && "There is no run with this id: it may have been deleted. "}
          <a href={placeHref(["runs"])}>Go to Runs</a>
        </p>
      </>
    );
  }
  if (!isRead) {
    return (
      <>
        <Heading title={`Run ${session.runId}`} />
        <p class="muted">
          {error === undefined ? "Loading…" : "The server cannot be reached. Trying again…"}
        </p>
      </>
    );
  }
  return <Shown session={session} place={place} />;
}

function Shown({
  session,
  place,
}: ScreenProps & { readonly session: RunSession }): ComponentChildren {
  const { query } = place;
  const moment = useMoment(session, numberOf(query.get("at")));
  const [nodeTab, setNodeTab] = useState<string>();
  session.revision.value;
  // A run that has ended does not change: it is as good as new.
  const isStale = staleSince.value !== undefined && session.view.summary === null;
  const failed = failureOf(session.view)?.node;
  const node = query.get("node") ?? failed;
  const attempt = numberOf(query.get("attempt"));
  const context = useMemo(
    (): RunScreenContext => ({
      session,
      moment,
      node,
      attempt,
      select: (path, number) => setQuery({ node: path, attempt: number }),
    }),
    [session, moment, node, attempt],
  );
  return (
    <RunProvider value={context}>
      <div class="run-screen">
        <RunHeader />
        {isStale && <Age />}
        {session.error.value !== undefined && !isUnreachable(session.error.value) && (
          <Problem error={session.error.value} />
        )}
        <Failure onDefinition={() => setNodeTab("definition")} />
        <OpenQuestions />
        <div class={isStale ? "run-panes stale" : "run-panes"}>
          <RunNodes />
          <div class="run-views">
            <Views tab={query.get("tab") ?? "flow"} />
            <RunValues />
          </div>
          <Inspector tab={nodeTab} onTab={setNodeTab} />
        </div>
      </div>
    </RunProvider>
  );
}

/** The moment that the address names, and the address that follows the moment. */
function useMoment(session: RunSession, at: number | undefined): Moment {
  const [moment] = useState(() => createMoment(session, at));
  const written = useRef(at);
  useEffect(() => moment.close, [moment]);
  // An address that was followed, such as Back, leads; what the slider wrote itself does not.
  useEffect(() => {
    if (at !== written.current) {
      written.current = at;
      moment.goTo(at);
    }
  }, [at]);
  const now = moment.at.value;
  useEffect(() => {
    if (now === written.current) return undefined;
    const timer = setTimeout(() => {
      written.current = now;
      setQuery({ at: now });
    }, ADDRESS_MS);
    return () => clearTimeout(timer);
  }, [now]);
  return moment;
}

function numberOf(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

const VIEWS: readonly Tab[] = [
  { id: "flow", title: "Flow", panel: () => <FlowView /> },
  { id: "timeline", title: "Timeline", panel: () => <Timeline /> },
  { id: "events", title: "Events", panel: () => <Events /> },
  { id: "summary", title: "Summary", panel: () => <Summary /> },
];

function Views({ tab }: { readonly tab: string }): ComponentChildren {
  return (
    <Tabs
      name="Run views"
      tabs={VIEWS}
      chosen={tab}
      onChoose={(chosen) => setQuery({ tab: chosen === "flow" ? undefined : chosen })}
    />
  );
}

/** The open questions of the run; empty where there are none. */
function OpenQuestions(): ComponentChildren {
  const { session } = useRun();
  session.revision.value;
  const { confirmations, summary } = session.view;
  const open = [...confirmations.values()].filter(({ state }) => state === "requested");
  const asks = summary === null ? open : [];
  return (
    <>
      <div role="status" aria-label="Questions" class="visually-hidden">
        {asks.map(({ node, prompt }) => `${node} asks: ${prompt}`).join(" ")}
      </div>
      {asks.length > 0 && <Questions ids={asks.map(({ id }) => id).join(" ")} />}
    </>
  );
}
