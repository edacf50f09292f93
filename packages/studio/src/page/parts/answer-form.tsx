/** The answer to what a run asks: a value where one is wanted, a comment, "Approve" and "Reject". */
import type { Confirmation, Json } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { backend, hasCode, invokeOnce } from "../backend.ts";
import { refusal } from "../state/meta.ts";
import { useAction } from "../state/use-action.ts";
import { Button } from "./button.tsx";
import { Problem } from "./problem.tsx";
import { checkForm, findingsOf } from "./schema-form/check-form.ts";
import { focusProblems, SchemaForm } from "./schema-form/schema-form.tsx";
import { startValue } from "./schema-form/shape.ts";
import "./answer-form.css";

/**
 * Asks for an answer and sends it. `onSend`: an answer is on its way. `onAnswered`: what the question became, also where somebody else was
 * first.
 */
export function AnswerForm({
  question,
  onSend,
  onAnswered,
}: {
  readonly question: Confirmation;
  readonly onSend?: () => void;
  readonly onAnswered: (answered: Confirmation, isOwn: boolean) => void;
}): ComponentChildren {
  const { runId, id, schema } = question;
  const wantsValue = Object.keys(schema).length > 0;
  const [value, setValue] = useState<Json | undefined>(() => startValue(schema, schema));
  const [comment, setComment] = useState("");
  const [isChecked, setChecked] = useState(false);
  const answer = useAction(async (decision: "approve" | "reject") => {
    onSend?.();
    const args = {
      runId,
      confirmationId: id,
      decision,
      ...(decision === "approve" && wantsValue && value !== undefined && { value }),
      ...(comment !== "" && { comment }),
    };
    try {
      onAnswered(await invokeOnce("resolve_confirmation", args), true);
    } catch (error) {
      if (!hasCode(error, "already_resolved", "confirmation_expired", "not_found")) throw error;
      onAnswered(await settled(question), false);
    }
  });
  const wrong = wantsValue ? checkForm(schema, value) : [];
  const why = refusal("run");
  const button = { disabled: answer.isBusy, refusal: why };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setChecked(true);
        if (wrong.length === 0) void answer.run("approve");
        else focusProblems(event.currentTarget);
      }}
    >
      {wantsValue && (
        <SchemaForm
          schema={schema}
          value={value}
          onChange={(next) => {
            setValue(next);
            answer.clear();
          }}
          findings={isChecked ? [...wrong, ...findingsOf(answer.error, "/value")] : []}
        />
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
        <Button type="submit" class="primary" {...button}>
          Approve
        </Button>
        <Button class="danger" {...button} onClick={() => void answer.run("reject")}>
          Reject
        </Button>
      </div>
    </form>
  );
}

/** Outcome of a question that was answered, or that expired. */
export function outcomeOf({ status, by, comment }: Confirmation): string {
  const said = comment === undefined ? "" : `, “${comment}”`;
  switch (status) {
    case "expired":
      return "expired: nobody answered in time";
    case "cancelled":
      return "no longer asked: the run has ended";
    case "requested":
      return "open";
    default:
      return by === undefined
        ? `already answered: ${status}${said}`
        : `already answered by ${by}: ${status}${said}`;
  }
}

/** The question as it is now. A run that was deleted meanwhile asks nothing. */
export async function settled(question: Confirmation): Promise<Confirmation> {
  const gone = { ...question, status: "cancelled" } as const;
  try {
    const { confirmations } = await backend.invoke("get_run", { runId: question.runId });
    return confirmations.find(({ id }) => id === question.id) ?? gone;
  } catch (error) {
    if (hasCode(error, "not_found")) return gone;
    throw error;
  }
}
