/** The inbox: what runs ask a person, over all runs, live. */
import type { Confirmation, RunSummary } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { backend } from "../../backend.ts";
import { Heading } from "../../parts/heading.tsx";
import { ListView } from "../../parts/list-screen.tsx";
import { placeHref } from "../../router.ts";
import { notify } from "../../state/notifications.ts";
import { useNow } from "../../state/use-now.ts";
import { Question } from "./question.tsx";
import { questionKey, useInbox } from "./use-inbox.ts";
import "./inbox.css";

/** How often ages are renewed, in milliseconds. */
const AGE_MS = 30_000;

/** Every open question with its answer form. */
export function InboxScreen(): ComponentChildren {
  const { list, touch, settle, dismiss } = useInbox();
  const runs = useRuns(list.items ?? []);
  useNow(AGE_MS);
  const heading = useRef<HTMLDivElement>(null);
  const focusHeading = (): void => heading.current?.querySelector("h1")?.focus();
  const onAnswered = (answered: Confirmation, isOwn: boolean): void => {
    settle(answered, isOwn);
    if (!isOwn) return;
    notify(`${answered.node} of ${answered.runId} is ${answered.status}`);
    focusHeading();
  };
  return (
    <>
      <div ref={heading}>
        <Heading title="Inbox" />
      </div>
      <ListView list={list} empty={<NoQuestions />}>
        {(questions) => (
          <ul class="questions" aria-label="Open confirmations">
            {questions.map((question) => (
              <Question
                key={questionKey(question)}
                question={question}
                run={runs.get(question.runId)}
                onTouch={() => touch(question)}
                onAnswered={onAnswered}
                onDismiss={() => {
                  dismiss(question);
                  focusHeading();
                }}
              />
            ))}
          </ul>
        )}
      </ListView>
    </>
  );
}

/** The runs that ask, each read once. */
function useRuns(questions: readonly Confirmation[]): ReadonlyMap<string, RunSummary> {
  const [runs, setRuns] = useState<ReadonlyMap<string, RunSummary>>(new Map());
  const asked = useRef(new Set<string>());
  useEffect(() => {
    for (const { runId } of questions) {
      if (asked.current.has(runId)) continue;
      asked.current.add(runId);
      backend.invoke("get_run", { runId }).then(
        (run) => setRuns((before) => new Map(before).set(runId, run)),
        // The question is shown without the name of its flow, and the run is asked for again with the next one.
        () => asked.current.delete(runId),
      );
    }
  }, [questions]);
  return runs;
}

function NoQuestions(): ComponentChildren {
  return (
    <section class="empty">
      <h2>No open confirmations</h2>
      <p>
        A flow asks a person with a node of the type{" "}
        <a href={placeHref(["catalog", "confirm"])}>confirm</a>. What it asks is shown here until
        somebody answers.
      </p>
    </section>
  );
}
