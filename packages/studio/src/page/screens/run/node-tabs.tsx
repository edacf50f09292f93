/** The tabs of a node: inputs and output, log, calls of models, and text. */
import type { ErrorInfo, Json, NodeView } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { backend } from "../../backend.ts";
import { Button } from "../../parts/button.tsx";
import { formatCost, formatDuration, formatNumber } from "../../parts/format.ts";
import { LogView, ModelOutput } from "../../parts/log-view.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Time } from "../../parts/time.tsx";
import { ValueView } from "../../parts/value-view/value-view.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { loadValue } from "../../state/load-value.ts";
import { useValue } from "../../state/use-value.ts";
import { attemptsOf, checksOf, outputOf, textOf } from "./node-facts.ts";
import { useRun } from "./run-context.ts";
import type { NodeEvents } from "./use-node-events.ts";

/** A node as its tabs see it. */
export interface NodeTabProps {
  readonly path: string;
  /** The attempt that is looked at. */
  readonly attempt: number;
  /** The node at this moment; undefined: it has not begun. */
  readonly live: NodeView | undefined;
  readonly read: NodeEvents;
}

/** The fields that an attempt was given. */
export function InputTab({ path, attempt, live }: NodeTabProps): ComponentChildren {
  if (live?.startedAt === undefined) return <p class="muted">The node has not begun.</p>;
  return <Fields key={`${path} ${attempt}`} path={path} attempt={attempt} />;
}

function Fields({
  path,
  attempt,
}: {
  readonly path: string;
  readonly attempt: number;
}): ComponentChildren {
  const { runId } = useRun().session;
  const { value, error } = useValue(`${runId} ${path} ${attempt}`, () =>
    backend.invoke("get_node_inputs", { runId, node: path, attempt }),
  );
  if (error !== undefined) return <Problem error={error} />;
  if (value === undefined) return <p class="muted">Loading…</p>;
  const { fields, redacted, absent } = value;
  const names = Object.keys(fields);
  return (
    <>
      {names.length === 0 && absent.length === 0 && <p class="muted">The node has no fields.</p>}
      <dl class="fields">
        {names.map((name) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <ValueView name={name} value={fields[name] as Json} />
            </dd>
          </div>
        ))}
      </dl>
      {absent.length > 0 && <p class="muted">No longer known: {absent.join(", ")}.</p>}
      {redacted.length > 0 && (
        <p class="muted">Secret values are hidden at {redacted.join(", ")}.</p>
      )}
    </>
  );
}

/** The output of an attempt with its checks. */
export function OutputTab({ path, attempt, live, read }: NodeTabProps): ComponentChildren {
  const { runId } = useRun().session;
  const known = outputOf(read.events, attempt);
  const isLatest = live?.attempt === attempt;
  const output = known?.output ?? (isLatest ? live.output : undefined);
  const reference = output === undefined ? (known?.outputRef ?? live?.outputRef) : undefined;
  const error = known?.error ?? (isLatest ? live.error : undefined);
  const ports = known?.ports ?? (isLatest ? live.ports : undefined);
  const checks = checksOf(read.events, attempt);
  return (
    <>
      <Problem error={read.error} />
      <NodeError error={error} />
      {ports !== undefined && <p class="muted">Left by {ports.join(", ") || "no exit"}.</p>}
      {output !== undefined || reference !== undefined ? (
        <ValueView
          key={`${path} ${attempt}`}
          name="Output"
          expression={/^[\p{L}_][\w-]*$/u.test(path) ? path : undefined}
          value={output}
          reference={reference}
          onLoad={reference === undefined ? undefined : () => loadValue(runId, reference)}
        />
      ) : (
        error === undefined && <p class="muted">{NO_OUTPUT[live?.state ?? "pending"]}</p>
      )}
      {checks.length > 0 && (
        <>
          <h3>Checks</h3>
          <ul class="checks">
            {checks.map(({ seq, check, pass, level, detail, score }) => (
              <li key={seq} data-passed={pass}>
                {pass ? "✓ passed" : level === "warn" ? "! warning" : "✗ failed"}: {check}
                {score !== undefined && `, score ${score}`}
                {detail !== undefined && (
                  <>
                    {" "}
                    <VisibleText text={detail} />
                  </>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

const NO_OUTPUT: Readonly<Record<NodeView["state"], string>> = {
  pending: "The node has not begun.",
  running: "The node is running.",
  retrying: "The node will be tried again.",
  waiting: "The node is waiting.",
  succeeded: "The node has no output.",
  failed: "The node has failed.",
  skipped: "The node was skipped.",
  cancelled: "The node was cancelled.",
};

/** The lines of a node, and what its model writes. */
export function LogTab({ attempt, live, read }: NodeTabProps): ComponentChildren {
  const { session, moment } = useRun();
  const lines = read.events.flatMap((event) =>
    event.kind === "log" && event.attempt === attempt
      ? [{ ts: event.ts, level: event.level, channel: event.channel, text: event.text }]
      : [],
  );
  const error = outputOf(read.events, attempt)?.error;
  const written = textOf(read.events, attempt);
  const isNow = moment.shown.value.at === undefined;
  const open = written === undefined || !isNow ? undefined : session.view.calls.get(written.call);
  // The fold has the whole text of an open call, also where the page has not kept its pieces.
  const text = open?.texts.text ?? open?.texts.object ?? (written?.text || live?.text);
  return (
    <>
      <Problem error={read.error} />
      <NodeError error={error} />
      {written !== undefined && (
        <>
          <h3>Model output</h3>
          <ModelOutput
            name="Model output"
            text={text ?? ""}
            reasoning={open?.texts.reasoning ?? written.reasoning}
          />
          <h3>Log</h3>
        </>
      )}
      <LogView name="Log" lines={lines} />
    </>
  );
}

/** Every attempt of a node, with the way to look at one. */
export function AttemptsTab({ path, attempt, read }: NodeTabProps): ComponentChildren {
  const { session, select } = useRun();
  const attempts = attemptsOf(read.events);
  const spans = [...session.trace.spans.values()].filter(
    ({ node, kind }) => node === path && kind === "node",
  );
  if (attempts.length === 0) return <p class="muted">The node has not begun.</p>;
  return (
    <ol class="attempts">
      {attempts.map(({ attempt: number, startedAt, endedAt, end, error }) => {
        const span = spans.find((each) => each.attempt === number);
        return (
          <li key={number}>
            <Button aria-pressed={number === attempt} onClick={() => select(path, number)}>
              Attempt {number}
            </Button>{" "}
            {end === "" ? "going on" : end === "retrying" ? "failed, tried again" : end}
            {endedAt !== undefined && `, ${formatDuration(endedAt - startedAt)}`}, begun{" "}
            <Time at={startedAt} />
            {span?.usage !== undefined &&
              `, ${formatNumber(span.usage.inputTokens + span.usage.outputTokens)} tokens`}
            {span?.costUsd !== undefined && `, ${formatCost(span.costUsd)}`}
            <NodeError error={error} />
          </li>
        );
      })}
    </ol>
  );
}

/** Why an attempt failed; nothing where it did not. */
function NodeError({ error }: { readonly error: ErrorInfo | undefined }): ComponentChildren {
  if (error === undefined) return null;
  return (
    <p class="problem">
      <code>{error.code}</code> <VisibleText text={error.message} />
    </p>
  );
}
