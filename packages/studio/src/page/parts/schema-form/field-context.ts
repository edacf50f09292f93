/** State that the fields of one form share, and the ids that connect labels, notes and problems. */
import type { Json, JsonSchema } from "@millrace/contracts";
import { pointerKeys } from "@millrace/contracts/kit";
import { type ComponentType, type Context, createContext } from "preact";
import type { FormFinding } from "./check-form.ts";

/** One value of a form. */
export interface FieldProps {
  /** The label: the name of the member, or of the list with the number of the item. */
  readonly name: string;
  /** Where the value is in that of the form. */
  readonly pointer: string;
  readonly schema: Json | undefined;
  /** The document that references in the schema point into. */
  readonly root: JsonSchema;
  /** Undefined: it is not set. */
  readonly value: Json | undefined;
  readonly isRequired: boolean;
  readonly onChange: (value: Json | undefined) => void;
}

/** State that the fields of one form share. */
export interface FormShared {
  readonly id: string;
  readonly findings: readonly FormFinding[];
  /** Shows a member or an item: fields are in fields. */
  readonly Field: ComponentType<FieldProps>;
}

/** The form around a field. */
export const FormContext: Context<FormShared | undefined> = createContext<FormShared | undefined>(
  undefined,
);

/** The id of the control of a value; others are made by a suffix. An id has no blanks, so that lists of ids can name it. */
export function fieldId(form: string, pointer: string): string {
  return `${form}${pointer.replace(/[^\w/-]/g, (char) => `.${char.charCodeAt(0).toString(16)}`)}`;
}

/** Moves the focus to the control of a value, else to that of the nearest value around it. */
export function focusField(form: string, pointer: string): void {
  const steps = pointer.split("/");
  for (let length = steps.length; length > 0; length -= 1) {
    const element = document.getElementById(fieldId(form, steps.slice(0, length).join("/")));
    if (element === null) continue;
    const control = element.matches("fieldset") ? element.querySelector(CONTROLS) : element;
    if (control instanceof HTMLElement) {
      control.focus();
      return;
    }
  }
}

/** The controls of a group, without those in its corner. */
const CONTROLS = ["input", "select", "textarea", "button"]
  .map((tag) => `${tag}:not(.field-corner *)`)
  .join();

/** A place as a person reads it, such as `orders 2 name`. */
export function placeName(pointer: string): string {
  const names = pointerKeys(pointer).map((key) => (/^\d+$/.test(key) ? `${Number(key) + 1}` : key));
  return names.join(" ");
}
