/** What a run asks a person: one region a question, with the form of the answer. */
import { ClientError } from "@millrace/client";
import type { Confirmation, Json } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { backend } from "../../backend.ts";
import { Problem } from "../../parts/problem.tsx";
import { checkForm, findingsOf } from "../../parts/schema-form/check-form.ts";
import { SchemaForm } from "../../parts/schema-form/schema-form.tsx";
import { startValue } from "../../parts/schema-form/shape.ts";
import { Time } from "../../parts/time.tsx";
import { ValueView } from "../../parts/value-view/value-view.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { refusal } from "../../state/meta.ts";
import { notify } from "../../state/notifications.ts";
import { useAction } from "../../state/use-action.ts";
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
  const { session } = useRun();
  const { id, runId, node, prompt, schema, deadline, tool } = item;
  const hasForm = Object.keys(schema).length > 0;
  const [comment, setComment] = useState("");
  const [value, setValue] = useState<Json | undefined>(() =>
    hasForm ? startValue(schema, schema) : undefined,
  );
  const [isChecked, setChecked] = useState(false);
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const wrong = hasForm ? checkForm(schema, value) : [];

  const answer = useAction(async (decision: "approve" | "reject") => {
    try {
      await backend.invoke(
        "resolve_confirmation",
        {
          runId,
          confirmationId: id,
          decision,
          ...(comment !== "" && { comment }),
          ...(decision === "approve" && hasForm && value !== undefined && { value }),
        },
        { idempotencyKey: `${idempotencyKey}-${decision}` },
      );
      notify(decision === "approve" ? "Approved" : "Rejected");
    } catch (error) {
      if (!ClientError.isInstance(error) || error.code !== "already_resolved") throw error;
      notify(`already answered by ${await answeredBy(session, id)}`);
    }
    focusTree();
  });
  // The log may tell of the answer before the server has answered: the form is gone then, and with it what had the focus.
  const element = useRef<HTMLElement>(null);
  const isAnswered = useRef(false);
  isAnswered.current ||= answer.isBusy;
  useLayoutEffect(
    () => () => {
      const { activeElement } = document;
      const isLost = isAnswered.current && activeElement === document.body;
      if (isLost || element.current?.contains(activeElement)) focusTree();
    },
    [],
  );
  const why = refusal("run");
  const isOff = answer.isBusy || why !== undefined;
  const findings = isChecked ? [...wrong, ...findingsOf(answer.error, "/value")] : [];
  return (
    <section ref={element} class="confirmation" aria-label={`Confirmation: ${node}`}>
      <h2>
        <bdi>{node}</bdi> asks
      </h2>
      <p class="prompt">
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
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setChecked(true);
          if (wrong.length === 0) void answer.run("approve");
        }}
      >
        {hasForm && (
          <SchemaForm schema={schema} value={value} onChange={setValue} findings={findings} />
        )}
        <Problem error={answer.error} />
        <div class="answer">
          <label>
            Comment
            <textarea
              rows={1}
              maxLength={2_048}
              value={comment}
              onInput={(event) => setComment(event.currentTarget.value)}
            />
          </label>
          <button type="submit" class="primary" disabled={isOff} title={why}>
            Approve
          </button>
          <button
            type="button"
            class="danger"
            disabled={isOff}
            title={why}
            onClick={() => void answer.run("reject")}
          >
            Reject
          </button>
        </div>
      </form>
    </section>
  );
}

/** The focus goes to the tree, where a person sees how the run goes on. */
function focusTree(): void {
  document.querySelector<HTMLElement>('[role="treeitem"][tabindex="0"]')?.focus();
}

/** Who answered in the meantime, as the run says it. */
async function answeredBy(
  session: ReturnType<typeof useRun>["session"],
  id: string,
): Promise<string> {
  const known = session.view.confirmations.get(id);
  if (known?.state === "requested") await session.refresh();
  const read = session.run.peek()?.confirmations.find((each) => each.id === id);
  return known?.by ?? read?.by ?? "somebody else";
}
