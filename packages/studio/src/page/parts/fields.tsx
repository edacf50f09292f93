/** Fields of small forms: a label, and what is typed or chosen below it. */
import type { ComponentChildren, InputHTMLAttributes } from "preact";

/** Properties of a field of text, besides those of its `input`. */
export type TextFieldProps = InputHTMLAttributes<HTMLInputElement> & {
  readonly label: string;
  readonly onTyped: (text: string) => void;
};

/** A text of one line, which the browser neither corrects nor remembers. */
export function TextField({ label, onTyped, ...rest }: TextFieldProps): ComponentChildren {
  return (
    <label>
      {label}
      <input
        autocomplete="off"
        spellcheck={false}
        {...rest}
        onInput={({ currentTarget: { value } }) => onTyped(value)}
      />
    </label>
  );
}

/** Properties of a choice of texts. */
export interface ChoiceFieldProps {
  readonly label: string;
  /** The chosen text; "": none. */
  readonly value: string;
  readonly options: readonly string[];
  /** What stands for none; absent: one is always chosen. */
  readonly none?: string;
  readonly isRequired?: boolean;
  readonly onChosen: (text: string) => void;
}

/** A choice of texts. */
export function ChoiceField({
  label,
  value,
  options,
  none,
  isRequired,
  onChosen,
}: ChoiceFieldProps): ComponentChildren {
  return (
    <label>
      {label}
      <select
        required={isRequired}
        value={value}
        onChange={({ currentTarget }) => onChosen(currentTarget.value)}
      >
        {none !== undefined && <option value="">{none}</option>}
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </label>
  );
}

/** Properties of a box that is checked or not. */
export interface CheckFieldProps {
  readonly label: string;
  readonly isChecked: boolean;
  readonly onChecked: (isChecked: boolean) => void;
}

/** A box that is checked or not, before its label. */
export function CheckField({ label, isChecked, onChecked }: CheckFieldProps): ComponentChildren {
  return (
    <label class="inline">
      <input
        type="checkbox"
        checked={isChecked}
        onChange={({ currentTarget: { checked } }) => onChecked(checked)}
      />
      {label}
    </label>
  );
}
