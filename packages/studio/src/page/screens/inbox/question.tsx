/** One question of a run: what is asked, by which run, for how long, and the answer. */
import type { Confirmation, RunSummary } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { AnswerForm, outcomeOf } from "../../parts/answer-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Time } from "../../parts/time.tsx";
import { ValueView } from "../../parts/value-view/value-view.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { placeHref } from "../../router.ts";

/** Shows a question. `run`: undefined until it is known. */
export function Question({
  question,
  run,
  onTouch,
  onAnswered,
  onDismiss,
}: {
  readonly question: Confirmation;
  readonly run: RunSummary | undefined;
  readonly onTouch: () => void;
  readonly onAnswered: (answered: Confirmation, isOwn: boolean) => void;
  readonly onDismiss: () => void;
}): ComponentChildren {
  const { runId, node, prompt, deadline, requestedAt, status, tool } = question;
  const id = useId();
  return (
    <li
      class="card question"
      aria-labelledby={id}
      // Whoever is at work on it must not lose it by the answer of somebody else.
      onFocusIn={onTouch}
      onInput={onTouch}
    >
      <p id={id} class="question-head">
        <strong>
          <VisibleText text={run?.flow.title ?? run?.flow.id ?? "…"} />
        </strong>{" "}
        <a class="run-id" href={placeHref(["runs", runId], { node })}>
          {runId}
        </a>{" "}
        <span class="muted">{node}</span>
      </p>
      <p class="question-times muted">
        {requestedAt !== undefined && (
          <>
            asked <Time at={requestedAt} />
          </>
        )}
        {deadline !== null && (
          <>
            {" · "}answer due <Time at={deadline} />
          </>
        )}
      </p>
      <p class="question-prompt" dir="auto">
        <VisibleText text={prompt} />
      </p>
      {tool !== undefined && (
        <details>
          <summary>
            Tool call <code>{tool.name}</code>
          </summary>
          {tool.args !== undefined && <ValueView value={tool.args} name="Arguments" />}
        </details>
      )}
      {status === "requested" ? (
        <AnswerForm question={question} onAnswered={onAnswered} />
      ) : (
        <div class="actions">
          <span role="status" aria-label="Outcome">
            <VisibleText text={outcomeOf(question)} />
          </span>
          <Button onClick={onDismiss}>Dismiss</Button>
        </div>
      )}
    </li>
  );
}
