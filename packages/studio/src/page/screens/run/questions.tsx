/** Questions of a run to a person: one region a question, with the form of the answer. */
import type { Confirmation } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { backend } from "../../backend.ts";
import { AnswerForm, outcomeOf } from "../../parts/answer-form.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Time } from "../../parts/time.tsx";
import { ValueView } from "../../parts/value-view/value-view.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { notify } from "../../state/notifications.ts";
import { useValue } from "../../state/use-value.ts";
import { useRun } from "./run-context.ts";

/** The open questions of the run. `ids`: theirs, with blanks between them. */
export function Questions({ ids }: { readonly ids: string }): ComponentChildren {
  const { runId } = useRun().session;
  const { value, error } = useValue(`${runId} ${ids}`, () =>
    backend.invoke("list_confirmations", { runId, limit: 200 }),
  );
  const items = value?.items.filter(({ id }) => ids.split(" ").includes(id)) ?? [];
  return (
    <>
      <Problem error={error} />
      {items.map((item) => (
        <Question key={item.id} item={item} />
      ))}
    </>
  );
}

function Question({ item }: { readonly item: Confirmation }): ComponentChildren {
  const { node, prompt, deadline, tool } = item;
  // The log may tell of the answer before the server has answered: the form is gone then, and with it what had the focus.
  const element = useRef<HTMLElement>(null);
  const isAnswered = useRef(false);
  useLayoutEffect(
    () => () => {
      const { activeElement } = document;
      const isLost = isAnswered.current && activeElement === document.body;
      if (isLost || element.current?.contains(activeElement)) focusTree();
    },
    [],
  );
  return (
    <section ref={element} class="confirmation" aria-label={`Confirmation: ${node}`}>
      <h2>
        Confirmation: <bdi>{node}</bdi>
      </h2>
      <p class="prompt" dir="auto">
        <VisibleText text={prompt} />
      </p>
      {tool !== undefined && (
        <>
          <p>
            The tool <code>{tool.name}</code> waits to be called
            {tool.args === undefined ? "." : " with:"}
          </p>
          {tool.args !== undefined && <ValueView name="Arguments" value={tool.args} />}
        </>
      )}
      {deadline !== null && (
        <p class="muted">
          An answer is due <Time at={deadline} />.
        </p>
      )}
      <AnswerForm
        question={item}
        onSend={() => {
          isAnswered.current = true;
        }}
        onAnswered={(answered, isOwn) => {
          notify(isOwn ? `Answered: ${answered.status}` : outcomeOf(answered));
          focusTree();
        }}
      />
    </section>
  );
}

/** The focus goes to the tree, where a person sees how the run goes on. */
function focusTree(): void {
  document.querySelector<HTMLElement>('[role="treeitem"][tabindex="0"]')?.focus();
}
