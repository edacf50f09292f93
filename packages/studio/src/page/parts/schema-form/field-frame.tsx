/** Frame of the control of a value: label, description, default, and problems. */
import type { JsonSchema } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { sentence } from "../format.ts";
import { Prose } from "../prose.tsx";
import { VisibleText } from "../value-view/visible-text.tsx";
import type { FormFinding } from "./check-form.ts";
import { FormContext, fieldId } from "./field-context.ts";
import { isSecret } from "./shape.ts";

/** Attributes of a control. */
export interface ControlProps {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean | undefined;
}

/** Place of a control and its frame. */
export interface FieldPlace {
  readonly control: ControlProps;
  readonly findings: readonly FormFinding[];
}

/** The ids and the problems of a place. `isWhole`: the control holds all that is below the place as well. */
export function useFieldPlace(
  pointer: string,
  { hasNote, isWhole }: { readonly hasNote: boolean; readonly isWhole: boolean },
): FieldPlace {
  const { id: form = "", findings: all = [] } = useContext(FormContext) ?? {};
  const id = fieldId(form, pointer);
  const findings = all.filter(
    (each) => each.pointer === pointer || (isWhole && each.pointer.startsWith(`${pointer}/`)),
  );
  const described = [
    ...(findings.length > 0 ? [`${id}.problem`] : []),
    ...(hasNote ? [`${id}.note`] : []),
  ];
  return {
    control: {
      id,
      "aria-describedby": described.length > 0 ? described.join(" ") : undefined,
      "aria-invalid": findings.length > 0 ? true : undefined,
    },
    findings,
  };
}

/** Whether a schema says something that is shown beside its control. */
export function hasNote(schema: JsonSchema): boolean {
  return aboutOf(schema) !== "" || shownDefault(schema) !== undefined;
}

/** Description of a value, and its default. */
export function FieldNote({
  id,
  schema,
}: {
  readonly id: string;
  readonly schema: JsonSchema;
}): ComponentChildren {
  if (!hasNote(schema)) return null;
  const about = aboutOf(schema);
  const value = shownDefault(schema);
  return (
    <p id={`${id}.note`} class="muted field-note">
      <Prose text={value === undefined ? about : sentence(about)} />
      {about !== "" && value !== undefined && " "}
      {value !== undefined && (
        <>
          Default:{" "}
          <code>
            <VisibleText text={value} />
          </code>
        </>
      )}
    </p>
  );
}

/** Longest default that is shown, in UTF-16 units. */
const MAX_SHOWN = 200;

/** JSON of the default of a schema. That of a secret is not shown, and an empty object says nothing. */
function shownDefault(schema: JsonSchema): string | undefined {
  const { default: value } = schema;
  if (value === undefined || isSecret(schema)) return undefined;
  const text = JSON.stringify(value);
  if (text === "{}") return undefined;
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function aboutOf({ description }: JsonSchema): string {
  return typeof description === "string" ? description : "";
}

/** Problems of a value. */
export function FieldProblems({
  id,
  pointer,
  findings,
}: {
  readonly id: string;
  readonly pointer: string;
  readonly findings: readonly FormFinding[];
}): ComponentChildren {
  if (findings.length === 0) return null;
  return (
    <ul id={`${id}.problem`} class="field-problems">
      {findings.map((finding) => (
        <li key={`${finding.pointer} ${finding.message}`}>
          {finding.pointer !== pointer && (
            <code>
              <VisibleText text={finding.pointer.slice(pointer.length)} />{" "}
            </code>
          )}
          <VisibleText text={finding.message} />
        </li>
      ))}
    </ul>
  );
}
