/** Controls for values that are chosen: a box for yes and no, buttons for up to seven values, a list for more. */
import type { Json } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { escapedText } from "../value-view/escapes.ts";
import { choicesOf, isSame } from "./shape.ts";
import type { ValueControlProps } from "./text-controls.tsx";

/** Most values that are shown side by side. */
const MAX_BUTTONS = 7;

type ChoiceProps = Pick<ValueControlProps, "shape" | "isRequired" | "value">;

interface Option {
  readonly text: string;
  readonly value: Json | undefined;
}

/** The values that a person may choose from, "not set" and null included where they are allowed. */
function optionsOf({
  shape: { control, schema, isNullable },
  isRequired,
  value: chosen,
}: ChoiceProps): readonly Option[] {
  const values = control === "boolean" ? [true, false] : choicesOf(schema);
  return [
    ...values.map((value) => ({ text: optionText(value), value })),
    ...(isNullable ? [{ text: "null", value: null }] : []),
    // A value that is not set is the default: whoever has chosen one needs no other word for it.
    ...(isRequired || (schema["default"] !== undefined && chosen !== undefined)
      ? []
      : [{ text: "not set", value: undefined }]),
  ];
}

/** Whether a yes or no is a box: whoever does not touch it sees what is sent. */
export function isBox({ shape, isRequired }: Omit<ChoiceProps, "value">): boolean {
  const { control, schema, isNullable } = shape;
  return control === "boolean" && !isNullable && (isRequired || schema["default"] !== undefined);
}

/** Whether the values of a choice are shown side by side, as a group with a legend. */
export function isButtons(props: Omit<ChoiceProps, "value">): boolean {
  const { control, schema } = props.shape;
  const count = control === "boolean" ? 2 : choicesOf(schema).length;
  return !isBox(props) && count <= MAX_BUTTONS;
}

/** A box that says yes or no. */
export function BoxControl({
  shape: { schema },
  value = schema["default"],
  control,
  onChange,
}: ValueControlProps): ComponentChildren {
  return (
    <input
      {...control}
      type="checkbox"
      checked={value === true}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}

/** One value out of a few. */
export function ButtonsControl(props: ValueControlProps): ComponentChildren {
  const { value, control, onChange } = props;
  return (
    <div class="field-options">
      {optionsOf(props).map((option) => (
        <label key={option.text}>
          <input
            type="radio"
            name={control.id}
            checked={isSame(option.value, value)}
            onChange={() => onChange(option.value)}
          />
          {option.text}
        </label>
      ))}
    </div>
  );
}

/** One value out of many. */
export function SelectControl(props: ValueControlProps): ComponentChildren {
  const { value, control, isRequired, onChange } = props;
  const options = optionsOf(props);
  const chosen = options.findIndex((option) => isSame(option.value, value));
  return (
    <select
      {...control}
      aria-required={isRequired ? true : undefined}
      value={chosen < 0 ? "" : `${chosen}`}
      onChange={(event) => onChange(options[Number(event.currentTarget.value)]?.value)}
    >
      {chosen < 0 && <option value="">Choose…</option>}
      {options.map((option, at) => (
        <option key={option.text} value={`${at}`}>
          {option.text}
        </option>
      ))}
    </select>
  );
}

function optionText(value: Json): string {
  return escapedText(typeof value === "string" && value !== "" ? value : JSON.stringify(value));
}
