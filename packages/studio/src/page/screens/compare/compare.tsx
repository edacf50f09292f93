/** Two runs side by side: their inputs, their flows, and the outcome of each node. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { DiffView } from "../../editor/diff-view.tsx";
import { formatCost, formatDuration } from "../../parts/format.ts";
import { Heading } from "../../parts/heading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { StateWord } from "../../parts/run-status.tsx";
import { Time } from "../../parts/time.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { placeHref, type ScreenProps } from "../../router.ts";
import { onFeed } from "../../state/feed.ts";
import { hiddenInputs } from "../../state/hidden-inputs.ts";
import { ComparedValues, type NamedValues } from "./compared-values.tsx";
import { compareRuns } from "./comparison.ts";
import { ComparisonTable } from "./comparison-table.tsx";
import { readSides, type Side, type Sides } from "./read-runs.ts";
import "../../parts/list-screen.css";
import { CheckField } from "../../parts/fields.tsx";
import "./compare.css";

/** The comparison of the runs `a` and `b` of the place. */
export function CompareScreen({ place: { query } }: ScreenProps): ComponentChildren {
  const [a, b] = [query.get("a") ?? "", query.get("b") ?? ""];
  return (
    <>
      <Heading title="Compare runs" />
      {a === "" || b === "" ? (
        <p>
          Two runs are compared. Select them in the list <a href={placeHref(["runs"])}>Runs</a>.
        </p>
      ) : (
        <Comparison key={`${a} ${b}`} a={a} b={b} />
      )}
    </>
  );
}

function Comparison({ a, b }: { readonly a: string; readonly b: string }): ComponentChildren {
  const { sides, error } = useSides(a, b);
  if (sides === undefined) {
    return (
      <>
        <Problem error={error} />
        {error === undefined && <p class="muted">Reading both runs…</p>}
      </>
    );
  }
  return (
    <>
      <Problem error={error} />
      <div class="sides">
        <SideCard letter="A" side={sides.a} />
        <SideCard letter="B" side={sides.b} />
      </div>
      <Outputs sides={sides} />
      <Inputs sides={sides} />
      <FlowText sides={sides} />
      <Nodes sides={sides} />
    </>
  );
}

/** Both runs; read again when one of them ends. */
function useSides(
  a: string,
  b: string,
): { readonly sides: Sides | undefined; readonly error: unknown } {
  const [state, setState] = useState<{ readonly sides?: Sides; readonly error?: unknown }>({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    readSides(a, b, stop.signal).then(
      (sides) => setState({ sides }),
      (error: unknown) => {
        if (!stop.signal.aborted) setState((before) => ({ ...before, error }));
      },
    );
    return () => stop.abort();
  }, [a, b, turn]);
  useEffect(
    () =>
      onFeed((event) => {
        const isEnd = event?.kind === "summary" && (event.runId === a || event.runId === b);
        if (isEnd) setTurn((before) => before + 1);
      }),
    [a, b],
  );
  return { sides: state.sides, error: state.error };
}

function SideCard({
  letter,
  side: { run },
}: {
  readonly letter: "A" | "B";
  readonly side: Side;
}): ComponentChildren {
  const { runId, flow, status, startedAt, createdAt, summary, template } = run;
  return (
    <section class="card" aria-label={`Run ${letter}`}>
      <p>
        <strong>{letter}</strong> <StateWord state={status} />{" "}
        <a class="run-id" href={placeHref(["runs", runId])}>
          {runId}
        </a>
      </p>
      <p class="muted">
        <VisibleText text={flow.title ?? flow.id} />
        {template !== null && ` · ${template.slug} v${template.version}`} · started{" "}
        <Time at={startedAt ?? createdAt} />
        {summary === null
          ? " · has not ended"
          : ` · ${formatDuration(summary.durationMs)} · ${formatCost(summary.costUsd)}`}
      </p>
    </section>
  );
}

function Inputs({ sides: { a, b } }: { readonly sides: Sides }): ComponentChildren {
  return (
    <section aria-label="Inputs">
      <h2>Inputs</h2>
      <ComparedValues kind="input" a={inputsOf(a)} b={inputsOf(b)} />
    </section>
  );
}

function inputsOf({ run: { runId }, inputs }: Side): NamedValues {
  return { runId, values: inputs.inputs, hidden: hiddenInputs(inputs) };
}

function Outputs({ sides: { a, b } }: { readonly sides: Sides }): ComponentChildren {
  const running = [
    ...(a.run.summary === null ? ["A"] : []),
    ...(b.run.summary === null ? ["B"] : []),
  ];
  return (
    <section aria-label="Outputs">
      <h2>Outputs</h2>
      {running.length > 0 ? (
        <p class="muted">
          {running.length === 2 ? "Both runs have" : `Run ${running[0]} has`} not ended: outputs are
          compared at the end.
        </p>
      ) : (
        <ComparedValues kind="output" a={outputsOf(a)} b={outputsOf(b)} />
      )}
    </section>
  );
}

function outputsOf({ run: { runId, summary } }: Side): NamedValues {
  return { runId, values: summary?.outputs ?? {}, refs: summary?.outputRefs };
}

function FlowText({ sides: { texts } }: { readonly sides: Sides }): ComponentChildren {
  return (
    <section>
      <h2>Flow text</h2>
      {texts === undefined ? (
        <p class="muted">Same flow.</p>
      ) : (
        <DiffView name="Flow text" before={texts.a} after={texts.b} />
      )}
    </section>
  );
}

function Nodes({ sides: { a, b } }: { readonly sides: Sides }): ComponentChildren {
  const rows = useMemo(() => compareRuns(a.facts, b.facts), [a, b]);
  const [isBrief, setBrief] = useState(false);
  const differing = rows.filter(({ difference }) => difference !== "same");
  return (
    <section>
      <h2>Nodes</h2>
      <div class="actions">
        <CheckField label="Only what differs" isChecked={isBrief} onChecked={setBrief} />
        <span class="muted">
          {differing.length} of {rows.length} differ
        </span>
      </div>
      {rows.length === 0 ? (
        <p>No node of either run has begun.</p>
      ) : isBrief && differing.length === 0 ? (
        <p>No node differs.</p>
      ) : (
        <ComparisonTable a={a.run.runId} b={b.run.runId} rows={isBrief ? differing : rows} />
      )}
    </section>
  );
}
