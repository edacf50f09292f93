/** A field whose text is more than its value: what was typed stays as it is until the value is changed from outside. */
import type { Json } from "@millrace/contracts";
import { useState } from "preact/hooks";

/** How a text and a value become each other. */
export interface TextForm {
  readonly print: (value: Json | undefined) => string;
  readonly read: (text: string) => Json | undefined;
}

/** The text of a field, and what takes a new one. */
export function useText(
  value: Json | undefined,
  { print, read }: TextForm,
  onChange: (value: Json | undefined) => void,
): readonly [text: string, type: (text: string) => void] {
  const [typed, setTyped] = useState<{ readonly text: string; readonly value: Json | undefined }>();
  const isTyped = typed !== undefined && Object.is(typed.value, value);
  return [
    isTyped ? typed.text : print(value),
    (text) => {
      const next = read(text);
      setTyped({ text, value: next });
      onChange(next);
    },
  ];
}
