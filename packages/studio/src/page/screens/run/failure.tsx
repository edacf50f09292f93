/** Why a run has failed, and what a person can do about it. */
import type { RunView } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { Button } from "../../parts/button.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { navigateToText, placeHref } from "../../router.ts";
import { useRun } from "./run-context.ts";
import { flowPathOf } from "./run-items.ts";

/** Failure of a run. */
export interface RunFailure {
  /** Path of the node; undefined: the run failed as a whole. */
  readonly node: string | undefined;
  readonly code: string;
  readonly message: string;
  readonly isRetryable: boolean;
}

/** The failure that ended a run; undefined: none did. */
export function failureOf(view: RunView): RunFailure | undefined {
  const { summary, failures } = view;
  if (summary === null || summary.status === "succeeded" || summary.status === "cancelled") {
    return undefined;
  }
  const { error, diagnostics = [] } = summary;
  const [first] = failures.filter(({ routed }) => routed === "none");
  const node = error?.node ?? first?.node;
  if (error === undefined && first === undefined) {
    const finding = diagnostics.find(({ severity }) => severity === "error");
    const message = finding?.message ?? "The flow cannot be run.";
    return { node: undefined, code: finding?.code ?? "flow_invalid", message, isRetryable: false };
  }
  return {
    node,
    code: error?.code ?? first?.code ?? "",
    message: error?.message ?? first?.message ?? "",
    isRetryable: error?.retryable ?? false,
  };
}

/** The alert of a failed run; its place stays in the page, so that a screen reader says what comes into it. */
export function Failure({
  onDefinition,
}: {
  /** Shows the definition of the node that failed. */
  readonly onDefinition: () => void;
}): ComponentChildren {
  const { session, select } = useRun();
  session.revision.value;
  const failure = failureOf(session.view);
  const template = session.run.value?.template;
  return (
    <div role="alert">
      {failure !== undefined && (
        <div class="problem failure">
          <p>
            {failure.node === undefined ? (
              <strong>The run failed</strong>
            ) : (
              <strong>
                <bdi>{failure.node}</bdi> failed
              </strong>
            )}{" "}
            <code>{failure.code}</code> <VisibleText text={failure.message} />
          </p>
          <p>
            {nextStepOf(failure)}{" "}
            {LINKS[failure.code] !== undefined && (
              <a href={placeHref([LINKS[failure.code] as string])}>Open {LINKS[failure.code]}</a>
            )}
          </p>
          {failure.node !== undefined && (
            <Button
              onClick={() => {
                if (failure.node === undefined) return;
                if (template == null) {
                  select(failure.node);
                  onDefinition();
                } else {
                  navigateToText(
                    placeHref(["flows", template.slug], {
                      v: template.version,
                      node: flowPathOf(failure.node),
                    }),
                  );
                }
              }}
            >
              Show in text
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

/** Screens on which the cause of a failure is mended. */
const LINKS: Readonly<Record<string, string | undefined>> = {
  connection_missing: "connections",
  connection_required: "connections",
  needs_connection: "connections",
  reauth_required: "connections",
  model_not_found: "models",
};

function nextStepOf({ node, code, isRetryable }: RunFailure): string {
  const known = STEPS[code];
  if (known !== undefined) return known;
  if (node === undefined) return "Next: mend the flow, then run it again.";
  return isRetryable
    ? "Next: this may pass by itself. Rerun from the node; results before it are kept."
    : "Next: look at its input and its log, mend the flow or the input, then rerun from the node.";
}

const STEPS: Readonly<Record<string, string | undefined>> = {
  timeout:
    "Next: allow the node more time with @timeout, or rerun from it when the other side is faster.",
  run_timeout: "Next: allow the run more time, or rerun from the first node that was not done.",
  confirm_rejected:
    "Next: a person said no. Rerun from the node to ask again, or handle its port rejected.",
  confirm_expired: "Next: nobody answered in time. Rerun from the node to ask again.",
  interrupted:
    "Next: the server went down meanwhile. See whether the node has done its work, then rerun from it.",
  output_schema:
    "Next: what the node gave is not of its declared shape. Mend the schema or the node, then rerun from it.",
  field_invalid:
    "Next: a field of the node has a value that it does not take. See its input, mend it, then rerun from the node.",
  expression_error:
    "Next: an expression could not be evaluated. See what it reads, mend it, then rerun from the node.",
};
