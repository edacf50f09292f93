/** The tab "Model calls": every call of a model with what it cost, and the tools that it called. */
import type { Json } from "@millrace/contracts";
import { type ComponentChildren, Fragment } from "preact";
import { formatCost, formatDuration, formatNumber } from "../../parts/format.ts";
import { ValueView } from "../../parts/value-view/value-view.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { loadValue } from "../../state/load-value.ts";
import { type CallFacts, callsOf, type ToolFacts } from "./node-facts.ts";
import type { NodeTabProps } from "./node-tabs.tsx";
import { useRun } from "./run-context.ts";
import "../../parts/data-table.css";

/** The table "Model calls". */
export function CallsTab({ attempt, read }: NodeTabProps): ComponentChildren {
  const { calls, tools } = callsOf(read.events, attempt);
  if (calls.length + tools.length === 0)
    return <p class="muted">The node called no model and no tool.</p>;
  return (
    <>
      {calls.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled by keyboard
        <section class="table-scroll" tabIndex={0} aria-label="Model calls, scrollable">
          <table aria-label="Model calls" class="calls">
            <thead>
              <tr>
                {TITLES.map((title) => (
                  <th key={title} scope="col">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {calls.map((call) => (
                <Call key={call.start.call} call={call} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      {tools.map((tool) => (
        <Tool key={tool.start.call} tool={tool} />
      ))}
    </>
  );
}

const TITLES = [
  "Call",
  "Provider",
  "Model",
  "Target",
  "Tokens in",
  "Tokens out",
  "Cached",
  "Cost",
  "First token",
  "Duration",
  "End",
] as const;

function Call({ call: { start, end, rejected, tools } }: { readonly call: CallFacts }) {
  const usage = end?.usage;
  const count = (value: number | undefined): string =>
    value === undefined ? "–" : formatNumber(value);
  const first = end?.kind === "llm.finished" ? end.firstTokenMs : undefined;
  const took = end?.kind === "llm.finished" ? end.durationMs : end && end.ts - start.ts;
  return (
    <Fragment>
      <tr>
        <th scope="row">{start.call}</th>
        <td>{start.provider}</td>
        <td>{start.model}</td>
        <td>{start.target === 0 ? "own" : `failover ${start.target}`}</td>
        <td>{count(usage?.inputTokens)}</td>
        <td>{count(usage?.outputTokens)}</td>
        <td>{count(usage?.cachedInputTokens)}</td>
        <td>{end === undefined ? "–" : formatCost(end.costUsd)}</td>
        <td>{first === undefined ? "–" : formatDuration(first)}</td>
        <td>{took === undefined ? "–" : formatDuration(took)}</td>
        <td>{endOf(end)}</td>
      </tr>
      {rejected !== undefined && (
        <tr>
          <td colSpan={TITLES.length}>
            Rejected:{" "}
            <VisibleText text={rejected.problems.map(({ message }) => message).join("; ")} />
            {rejected.repair > 0 && `; repair ${rejected.repair} follows`}
          </td>
        </tr>
      )}
      {tools.map((tool) => (
        <tr key={tool.start.call}>
          <td colSpan={TITLES.length}>
            <Tool tool={tool} />
          </td>
        </tr>
      ))}
    </Fragment>
  );
}

function endOf(end: CallFacts["end"]): string {
  if (end === undefined) return "running";
  return end.kind === "llm.finished" ? end.finish : `${end.reason}, then ${end.next}`;
}

function Tool({ tool: { start, end } }: { readonly tool: ToolFacts }): ComponentChildren {
  const { runId } = useRun().session;
  const { args, argsRef } = start;
  const { result, resultRef } = end ?? {};
  return (
    <details class="tool">
      <summary>
        Tool <code>{start.tool}</code>{" "}
        {end === undefined ? "running" : `${end.outcome}, ${formatDuration(end.durationMs)}`}
      </summary>
      {(args !== undefined || argsRef !== undefined) && (
        <ValueView
          name="Arguments"
          value={args as Json}
          reference={argsRef}
          onLoad={argsRef && (() => loadValue(runId, argsRef))}
        />
      )}
      {(result !== undefined || resultRef !== undefined) && (
        <ValueView
          name="Result"
          value={result as Json}
          reference={resultRef}
          onLoad={resultRef && (() => loadValue(runId, resultRef))}
        />
      )}
      {end?.error !== undefined && (
        <p class="problem">
          <code>{end.error.code}</code> <VisibleText text={end.error.message} />
        </p>
      )}
      {args === undefined && argsRef === undefined && (
        <p class="muted">The arguments of tools are not kept for this flow.</p>
      )}
    </details>
  );
}
