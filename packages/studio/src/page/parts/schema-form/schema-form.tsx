/**
 * A form for a value of a JSON Schema (2020-12), and the same value as JSON. It holds no value of its own: what it shows is `value`, and
 * what a person changes goes to `onChange`. `checkForm` tells whether the value may be sent.
 */
import type { Json, JsonObject, JsonSchema } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { Button } from "../button.tsx";
import { VisibleText } from "../value-view/visible-text.tsx";
import type { FormFinding } from "./check-form.ts";
import { Field } from "./field.tsx";
import { FormContext, focusField, placeName } from "./field-context.ts";
import { FieldProblems, useFieldPlace } from "./field-frame.tsx";
import { hasUnread, isUnread, unread } from "./form-value.ts";
import { type FormMember, Members, membersOf } from "./group-controls.tsx";
import { emptyItem, shapeOf } from "./shape.ts";
import { JsonControl } from "./text-controls.tsx";
import "./schema-form.css";

/** A form for a value of a schema; of an object, its members are the fields. */
export function SchemaForm({
  schema,
  value,
  onChange,
  findings = [],
}: {
  readonly schema: JsonSchema;
  readonly value: Json | undefined;
  readonly onChange: (value: Json) => void;
  readonly findings?: readonly FormFinding[];
}): ComponentChildren {
  const { control, schema: own } = shapeOf(schema, schema);
  const isMembers =
    control === "object" && (value === undefined || (isObject(value) && !isUnread(value)));
  return (
    <FormFrame value={value} onChange={onChange} findings={findings}>
      {isMembers ? (
        <Members members={membersOf(own, schema)} pointer="" value={value} onChange={onChange} />
      ) : (
        <Field
          name="Value"
          pointer=""
          schema={schema}
          root={schema}
          value={value}
          isRequired
          onChange={(next) => onChange(next ?? emptyItem(schema, schema))}
        />
      )}
    </FormFrame>
  );
}

/** Moves the focus to the list of what is wrong with a form, which is in the page after this turn. */
export function focusProblems(form: HTMLFormElement | null): void {
  setTimeout(() => form?.querySelector<HTMLElement>(".form-problems")?.focus());
}

/** A form for an object whose members have schemas of their own, such as the inputs of a flow. */
export function MembersForm({
  members,
  value,
  onChange,
  findings,
}: {
  readonly members: readonly FormMember[];
  readonly value: JsonObject;
  readonly onChange: (value: Json) => void;
  readonly findings: readonly FormFinding[];
}): ComponentChildren {
  return (
    <FormFrame value={value} onChange={onChange} findings={findings}>
      {isObject(value) && !isUnread(value) ? (
        <Members members={members} pointer="" value={value} onChange={onChange} />
      ) : undefined}
    </FormFrame>
  );
}

/** The list of what is wrong, the choice between fields and JSON, and what is chosen. `children`: none where only JSON can show it. */
function FormFrame({
  value,
  onChange,
  findings,
  children,
}: {
  readonly value: Json | undefined;
  readonly onChange: (value: Json) => void;
  readonly findings: readonly FormFinding[];
  readonly children: ComponentChildren;
}): ComponentChildren {
  const id = useId();
  const [isAsked, setAsked] = useState(false);
  const isJson = isAsked || children === undefined;
  const why = hasUnread(value)
    ? "A text in the form is not JSON"
    : children === undefined
      ? "This value can only be edited as JSON"
      : undefined;
  return (
    <FormContext.Provider value={{ id, findings, Field }}>
      <div class="schema-form">
        <div class="schema-form-head">
          <Findings id={id} findings={findings} />
          <Button aria-pressed={isJson} refusal={why} onClick={() => setAsked(!isAsked)}>
            As JSON
          </Button>
        </div>
        {isJson ? <WholeJson value={value} onChange={onChange} /> : children}
      </div>
    </FormContext.Provider>
  );
}

function WholeJson({
  value,
  onChange,
}: {
  readonly value: Json | undefined;
  readonly onChange: (value: Json) => void;
}): ComponentChildren {
  const { control, findings } = useFieldPlace("", { hasNote: false, isWhole: true });
  return (
    <div class="field">
      <label for={control.id}>JSON</label>
      <JsonControl
        control={control}
        value={value}
        isRequired={false}
        onChange={(next) => onChange(next === undefined ? unread("") : next)}
      />
      <FieldProblems id={control.id} pointer="" findings={findings} />
    </div>
  );
}

function Findings({
  id,
  findings,
}: {
  readonly id: string;
  readonly findings: readonly FormFinding[];
}): ComponentChildren {
  if (findings.length === 0) return null;
  return (
    <div class="problem form-problems" tabIndex={-1}>
      <p>{findings.length === 1 ? "One value is wrong" : `${findings.length} values are wrong`}:</p>
      <ul aria-label="Wrong values">
        {findings.map(({ pointer, message }) => (
          <li key={`${pointer} ${message}`}>
            <a
              href={globalThis.location?.hash || "#/"}
              onClick={(event) => {
                event.preventDefault();
                focusField(id, pointer);
              }}
            >
              <VisibleText text={pointer === "" ? "value" : placeName(pointer)} />
            </a>{" "}
            <VisibleText text={message} />
          </li>
        ))}
      </ul>
    </div>
  );
}
