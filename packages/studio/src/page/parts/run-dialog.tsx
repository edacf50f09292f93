/** The dialog that starts a run: a field for each input of the flow. Nothing is sent while a value breaks a rule. */
import type { FlowInput, Json, JsonObject } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { keepInputs, keptInputs } from "../state/input-drafts.ts";
import { refusal } from "../state/meta.ts";
import { useAction } from "../state/use-action.ts";
import { Button } from "./button.tsx";
import { Dialog, DialogActions } from "./dialog.tsx";
import { Problem } from "./problem.tsx";
import { checkInputs, type FormFinding, findingsOf } from "./schema-form/check-form.ts";
import { inputMember, startInputs } from "./schema-form/input-members.ts";
import { focusProblems, MembersForm } from "./schema-form/schema-form.tsx";

/**
 * Asks for the inputs of a run. `initial`: values to begin with, such as those of the run that is repeated. `draftKey`: where the last
 * inputs of this tab are kept, such as the slug of the flow; secrets are not kept. `onStart` starts the run; what it throws is shown.
 */
export function RunDialog({
  title,
  inputs,
  initial,
  draftKey,
  onStart,
  onClose,
  children,
}: {
  readonly title: string;
  readonly inputs: readonly FlowInput[];
  readonly initial?: Readonly<Record<string, Json>> | undefined;
  readonly draftKey?: string | undefined;
  readonly onStart: (inputs: Record<string, Json>) => Promise<void>;
  readonly onClose: () => void;
  /** Stands above the fields, such as what a run will do again. */
  readonly children?: ComponentChildren;
}): ComponentChildren {
  const [values, setValues] = useState<Json>(() =>
    startInputs(inputs, initial ?? keptInputs(draftKey, inputs)),
  );
  const [isChecked, setChecked] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const start = useAction(async (sent: Record<string, Json>) => {
    await onStart(sent);
    keepInputs(draftKey, inputs, sent);
  });
  const wrong = checkValues(inputs, values);
  const findings = isChecked ? [...wrong, ...findingsOf(start.error, "/inputs")] : [];
  useEffect(() => {
    const fields = form.current?.querySelector(".field");
    fields?.querySelector<HTMLElement>("input, select, textarea")?.focus();
  }, []);
  const why = refusal("run");
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        ref={form}
        noValidate
        onSubmit={async (event) => {
          event.preventDefault();
          setChecked(true);
          if (wrong.length === 0 && isObject(values)) {
            if (await start.run(values as Record<string, Json>)) return;
          }
          focusProblems(form.current);
        }}
      >
        {children}
        {inputs.length === 0 && <p class="muted">The flow has no inputs.</p>}
        <MembersForm
          members={inputs.map(inputMember)}
          value={values as JsonObject}
          findings={findings}
          onChange={(next) => {
            setValues(next);
            start.clear();
          }}
        />
        <Problem error={start.error} />
        <DialogActions onClose={onClose}>
          <Button type="submit" class="primary" disabled={start.isBusy} refusal={why}>
            Start run
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function checkValues(inputs: readonly FlowInput[], values: Json): readonly FormFinding[] {
  return isObject(values)
    ? checkInputs(inputs, values as JsonObject)
    : [{ pointer: "", message: "must be object" }];
}
