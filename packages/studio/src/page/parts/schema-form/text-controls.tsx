/** Controls for values that are typed: texts, secrets, dates, numbers and JSON. */
import type { Json, JsonSchema } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../button.tsx";
import type { ControlProps } from "./field-frame.tsx";
import { jsonText, numberText, readJson, readNumber } from "./form-value.ts";
import type { Shape } from "./shape.ts";

/** Properties of the control of one value. */
export interface ValueControlProps {
  readonly name: string;
  readonly shape: Shape;
  readonly value: Json | undefined;
  readonly isRequired: boolean;
  readonly control: ControlProps;
  readonly onChange: (value: Json | undefined) => void;
}

/** A text from so many UTF-16 units on has several lines. */
const LONG_TEXT = 200;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-31T12:00:00Z",
  uri: "https://",
};

/** A text on one line, or on several once it is long or somebody asks for it. Secrets are not shown. */
export function TextControl({
  name,
  shape: { control: kind, schema, isNullable },
  value,
  isRequired,
  control,
  onChange,
}: ValueControlProps): ComponentChildren {
  const text = typeof value === "string" ? value : "";
  const [isAsked, setAsked] = useState(false);
  const isLong = isAsked || text.length >= LONG_TEXT || text.includes("\n");
  const element = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const wasLong = useRef(isLong);
  const hadFocus = element.current !== null && document.activeElement === element.current;
  useLayoutEffect(() => {
    // Another element has taken the place of the field: the person goes on typing in it.
    if (wasLong.current !== isLong && (hadFocus || isAsked)) {
      element.current?.focus();
      element.current?.setSelectionRange(text.length, text.length);
    }
    wasLong.current = isLong;
  });
  const { format = "" } = schema;
  const type = (typed: string): void =>
    onChange(typed !== "" ? typed : isNullable ? null : undefined);
  const shared = {
    ...control,
    ref: element,
    value: text,
    "aria-required": isRequired ? true : undefined,
    autocomplete: "off",
    spellcheck: kind === "text" && format === "",
    // A secret shows dots: a word in its place would look like one that was typed.
    placeholder: value === null && kind !== "secret" ? "null" : PLACEHOLDERS[String(format)],
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      type(currentTarget.value),
  };
  // A field of one line would drop the ends of the lines, and with them what a key file says.
  const pasteLines = (event: ClipboardEvent): void => {
    const pasted = (event.clipboardData?.getData("text/plain") ?? "").replace(/\r\n?/g, "\n");
    const field = element.current;
    if (field === null || !pasted.trimEnd().includes("\n")) return;
    event.preventDefault();
    const [from, to] = [field.selectionStart ?? text.length, field.selectionEnd ?? text.length];
    type(text.slice(0, from) + pasted + text.slice(to));
  };
  if (isLong) {
    return (
      <textarea
        {...shared}
        rows={Math.min(12, Math.max(3, text.split("\n").length))}
        class={kind === "secret" ? "secret" : undefined}
      />
    );
  }
  const isDate = kind === "date" && (text === "" || DATE.test(text));
  const isPlain = kind === "text" && format === "";
  return (
    <span class="field-row">
      {kind === "secret" ? (
        <input {...shared} type="password" onPaste={pasteLines} />
      ) : isDate ? (
        <input {...shared} type="date" />
      ) : (
        <input {...shared} type="text" inputMode={format === "uri" ? "url" : "text"} />
      )}
      {isPlain && (
        <Button
          class="quiet"
          aria-label={`Several lines for ${name}`}
          title="Several lines"
          onClick={() => setAsked(true)}
        >
          ¶
        </Button>
      )}
    </span>
  );
}

/** A number as JSON writes it. What is typed and is no number stays, and breaks the rule of the schema. */
export function NumberControl({
  shape: { schema, isNullable },
  value,
  isRequired,
  control,
  onChange,
}: ValueControlProps): ComponentChildren {
  const empty = isNullable ? null : undefined;
  const [text, type] = useText(
    value,
    {
      print: (shown) => (shown === null ? "" : numberText(shown)),
      read: (typed) => readNumber(typed) ?? empty,
    },
    onChange,
  );
  return (
    <input
      {...control}
      type="text"
      class="number"
      inputMode={isCount(schema) ? "numeric" : "text"} // other keys have no minus on some phones
      autocomplete="off"
      aria-required={isRequired ? true : undefined}
      placeholder={value === null ? "null" : undefined}
      value={text}
      onInput={(event) => type(event.currentTarget.value)}
    />
  );
}

/** Whether a number has digits alone. */
function isCount({ type, minimum }: JsonSchema): boolean {
  return type === "integer" && typeof minimum === "number" && minimum >= 0;
}

const JSON_FORM = { print: jsonText, read: readJson };

/** Any value as a text of JSON. */
export function JsonControl({
  value,
  control,
  onChange,
  isRequired,
  isHidden = false,
}: Omit<ValueControlProps, "name" | "shape"> & {
  /** Dots stand for what is typed. */
  readonly isHidden?: boolean;
}): ComponentChildren {
  const [text, type] = useText(value, JSON_FORM, onChange);
  return (
    <textarea
      {...control}
      class={isHidden ? "json secret" : "json"}
      rows={Math.min(20, Math.max(3, text.split("\n").length))}
      spellcheck={false}
      autocomplete="off"
      aria-required={isRequired ? true : undefined}
      placeholder="JSON"
      value={text}
      onInput={(event) => type(event.currentTarget.value)}
    />
  );
}

/** How a text and a value become each other. */
interface TextForm {
  readonly print: (value: Json | undefined) => string;
  readonly read: (text: string) => Json | undefined;
}

/** The text of a field, and what takes a new one. */
function useText(
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
