/** The table of a comparison: a row for each node, and what differs in its output below it. */
import { type ComponentChildren, Fragment } from "preact";
import { useState } from "preact/hooks";
import { DiffView } from "../../editor/diff-view.tsx";
import { Button } from "../../parts/button.tsx";
import { formatCost, formatDuration, formatNumber } from "../../parts/format.ts";
import { Problem } from "../../parts/problem.tsx";
import { StateWord } from "../../parts/run-status.tsx";
import { useValue } from "../../state/use-value.ts";
import { jsonText } from "./compared-values.tsx";
import type { ComparisonRow } from "./comparison.ts";
import { readOutcome } from "./read-runs.ts";
import type { NodeFacts } from "./run-facts.ts";
import "../../parts/data-table.css";

/** Rows that are added at a time. */
const STEP = 200;
const SIDES = ["A", "B"] as const;
const FIELDS = ["State", "Duration", "Tokens", "Cost"] as const;
const COLUMNS = 2 + SIDES.length * FIELDS.length;

/** Shows rows. `a`, `b`: ids of the runs. */
export function ComparisonTable({
  a,
  b,
  rows,
}: {
  readonly a: string;
  readonly b: string;
  readonly rows: readonly ComparisonRow[];
}): ComponentChildren {
  const [count, setCount] = useState(STEP);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const toggle = (path: string): void => {
    const next = new Set(opened);
    if (!next.delete(path)) next.add(path);
    setOpened(next);
  };
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled by keyboard */}
      <section class="table-scroll" tabIndex={0} aria-label="Comparison, scrollable">
        <table aria-label="Comparison" class="comparison">
          <thead>
            <tr>
              <td />
              {SIDES.map((side) => (
                <th key={side} scope="colgroup" colSpan={FIELDS.length} class="side">
                  {side}
                </th>
              ))}
              <td />
            </tr>
            <tr>
              <th scope="col">Node</th>
              {SIDES.map((side) =>
                FIELDS.map((field) => (
                  <th
                    key={side + field}
                    scope="col"
                    class={field === "State" ? "side" : "number"}
                    aria-label={`${field} ${side}`}
                  >
                    {field}
                  </th>
                )),
              )}
              <th scope="col">Output</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, count).map((row) => (
              <Fragment key={row.path}>
                <Row row={row} isOpen={opened.has(row.path)} onToggle={() => toggle(row.path)} />
                {opened.has(row.path) && (
                  <tr>
                    <td colSpan={COLUMNS}>
                      <OutputDifference a={a} b={b} row={row} />
                    </td>
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > count && (
        <Button onClick={() => setCount(count + STEP)}>
          Show more ({formatNumber(rows.length - count)} left)
        </Button>
      )}
    </>
  );
}

function Row({
  row: { path, a, b, difference },
  isOpen,
  onToggle,
}: {
  readonly row: ComparisonRow;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}): ComponentChildren {
  const hasOutput = a?.output !== undefined || b?.output !== undefined;
  return (
    <tr>
      <th scope="row" class="node-path">
        {path}
      </th>
      <Facts node={a} />
      <Facts node={b} />
      <td class="difference" data-difference={difference}>
        <span>{difference}</span>{" "}
        {hasOutput && (
          <Button aria-label={`Show ${path}`} aria-expanded={isOpen} onClick={onToggle}>
            Show
          </Button>
        )}
      </td>
    </tr>
  );
}

function Facts({ node }: { readonly node: NodeFacts | undefined }): ComponentChildren {
  if (node === undefined) {
    return FIELDS.map((field) => (
      <td key={field} class={field === "State" ? "side muted" : "number muted"}>
        –
      </td>
    ));
  }
  const { state, durationMs, tokens, costUsd } = node;
  return (
    <>
      <td class="side">
        <StateWord state={state} />
      </td>
      <td class="number">{durationMs === undefined ? "" : formatDuration(durationMs)}</td>
      <td class="number">{tokens === undefined ? "" : formatNumber(tokens)}</td>
      <td class="number">{costUsd === undefined ? "" : formatCost(costUsd)}</td>
    </>
  );
}

function OutputDifference({
  a,
  b,
  row,
}: {
  readonly a: string;
  readonly b: string;
  readonly row: ComparisonRow;
}): ComponentChildren {
  const { value, error } = useValue(`${a} ${b} ${row.path}`, async () => ({
    before: await textOf(a, row.a),
    after: await textOf(b, row.b),
  }));
  if (error !== undefined) return <Problem error={error} />;
  if (value === undefined) return <p class="muted">Loading…</p>;
  const { before, after } = value;
  return before === after ? (
    <pre>{after}</pre>
  ) : (
    <DiffView name={`Output of ${row.path}`} before={before} after={after} />
  );
}

async function textOf(runId: string, node: NodeFacts | undefined): Promise<string> {
  if (node?.output === undefined) return "";
  return jsonText(await readOutcome(runId, node.path));
}
