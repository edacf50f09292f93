/** The list "Problems": what is wrong with the text, each with its fixes. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { FlowProblem } from "../../../worker/protocol.ts";
import { Button } from "../../parts/button.tsx";
import { formatNumber } from "../../parts/format.ts";
import { Prose } from "../../parts/prose.tsx";

/** Problems that are shown at first, and more of them with each "Show more". */
const SHOWN = 100;

/** How bad a problem is, beside the word. */
const MARKS: Readonly<Record<FlowProblem["severity"], { sign: string; style: string }>> = {
  error: { sign: "✗", style: "mark-bad" },
  warning: { sign: "⚠", style: "mark-warn" },
  info: { sign: "i", style: "muted" },
};

/** The problems of a text. */
export function Problems({
  problems: found,
  isBlank,
  onFix,
  onGoTo,
}: {
  /** Undefined: not known yet. */
  readonly problems: readonly FlowProblem[] | undefined;
  /** Nothing is written: there is nothing to find fault with. */
  readonly isBlank: boolean;
  /** Absent: the text cannot be changed. */
  readonly onFix: ((problem: FlowProblem, title: string) => void) | undefined;
  readonly onGoTo: (problem: FlowProblem) => void;
}): ComponentChildren {
  const [shown, setShown] = useState(SHOWN);
  const problems = isBlank ? [] : found;
  const count = problems?.length ?? 0;
  return (
    <section class="problems" aria-label="Problems of the text">
      <h2>Problems{count > 0 && ` (${formatNumber(count)})`}</h2>
      {problems === undefined && <p class="muted">Reading the text…</p>}
      {problems?.length === 0 && (
        <p class="muted">{isBlank ? "Nothing is written yet." : "No problems."}</p>
      )}
      <ul aria-label="Problems">
        {problems?.slice(0, shown).map((problem) => (
          <Row
            key={`${problem.code} ${problem.range?.start.offset} ${problem.message}`}
            problem={problem}
            onFix={onFix}
            onGoTo={onGoTo}
          />
        ))}
      </ul>
      {count > shown && <Button onClick={() => setShown(shown + SHOWN)}>Show more</Button>}
    </section>
  );
}

function Row({
  problem,
  onFix,
  onGoTo,
}: {
  readonly problem: FlowProblem;
  readonly onFix: ((problem: FlowProblem, title: string) => void) | undefined;
  readonly onGoTo: (problem: FlowProblem) => void;
}): ComponentChildren {
  const { code, severity, message, hint, range, fixes = [] } = problem;
  const start = range?.start;
  return (
    <li class="problem-row">
      <p>
        <span aria-hidden="true" class={MARKS[severity].style}>
          {MARKS[severity].sign}
        </span>{" "}
        <span class="visually-hidden">{severity}</span> <code>{code}</code>{" "}
        {start && (
          <span class="muted">
            {start.line}:{start.column}
          </span>
        )}{" "}
        <Prose text={hint === undefined ? message : `${message}; ${hint}`} />
      </p>
      <div class="problem-actions">
        {onFix &&
          fixes.map(({ title }) => (
            <Button key={title} onClick={() => onFix(problem, title)}>
              Fix: {title}
            </Button>
          ))}
        {start && <Button onClick={() => onGoTo(problem)}>Go to</Button>}
      </div>
    </li>
  );
}
