/** A field or policy of a node: an expression in one line, with a plain control where its value is a simple literal. */
import type { FieldValue, JsonObject } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { SentCompletion, WrittenValue } from "../../../worker/protocol.ts";
import { ExpressionEditor } from "../../editor/expression-editor.tsx";
import { askFreely } from "../../editor/worker.ts";
import { Button } from "../../parts/button.tsx";
import { messageOf } from "../../parts/problem.tsx";
import { plainProse } from "../../parts/prose.tsx";
import { notify } from "../../state/notifications.ts";

/** Content and actions of a field. */
export interface ValueFieldProps {
  readonly name: string;
  /** How it is written; undefined: it is not set. */
  readonly written: WrittenValue | undefined;
  /** JSON Schema of its value. */
  readonly schema: JsonObject;
  readonly isPolicy?: boolean;
  readonly isRequired?: boolean;
  readonly isReadOnly: boolean;
  readonly complete: (
    place: { readonly name: string; readonly isPolicy: boolean },
    source: string,
    offset: number,
  ) => Promise<readonly SentCompletion[]>;
  /** Undefined: the field goes. Rejects with the reason where the value cannot be read, or does not fit. */
  readonly onSet: (value: Promise<FieldValue | undefined>) => Promise<void>;
}

/** A field. What is typed is applied with Enter, or when the focus leaves it. */
export function ValueField(props: ValueFieldProps): ComponentChildren {
  const { name, written, schema, isPolicy = false, isRequired = false } = props;
  const { isReadOnly, complete, onSet } = props;
  const label = isPolicy ? `@${name}` : name;
  const id = useId();
  const [error, setError] = useState<string>();
  const [isExpression, setExpression] = useState(false);
  const isShown = useRef(true);
  const failure = useRef<string | undefined>(undefined);
  const fail = (message: string | undefined): void => {
    failure.current = message;
    if (isShown.current) setError(message);
    else if (message !== undefined) notify(`${label} was not changed: ${message}`);
  };
  useEffect(
    () => () => {
      isShown.current = false;
      fail(failure.current);
    },
    [],
  );
  const read = async (source: string): Promise<FieldValue | undefined> => {
    if (source.trim() === "") return undefined;
    const found = await askFreely("readValue", source, ...(isPolicy ? [name] : []));
    if ("problem" in found) throw new Error(found.problem);
    return found.value;
  };
  const typed = async (source: string): Promise<void> => {
    fail(undefined);
    if (source.trim() === (written?.source ?? "")) return;
    try {
      await onSet(read(source));
    } catch (reason) {
      fail(messageOf(reason));
    }
  };
  const plain = isExpression ? undefined : plainControl(schema, written);
  const help =
    typeof schema["description"] === "string" ? plainProse(schema["description"]) : undefined;
  const common = {
    id,
    "aria-invalid": error === undefined ? undefined : ("true" as const),
    "aria-describedby": error === undefined ? undefined : `${id}-error`,
    title: help,
  };
  return (
    <div class="value-field">
      <div class="value-head">
        {plain === undefined ? (
          <span title={help}>{label}</span>
        ) : (
          <label for={id} title={help}>
            {label}
          </label>
        )}
        {isRequired && <span class="muted">required</span>}
        {plain !== undefined && !isReadOnly && (
          <Button
            class="small"
            aria-label={`Write ${name} as an expression`}
            onClick={() => setExpression(true)}
          >
            ƒ
          </Button>
        )}
      </div>
      {plain === undefined ? (
        <ExpressionEditor
          name={label}
          source={written?.source ?? ""}
          isReadOnly={isReadOnly}
          isInvalid={error !== undefined}
          complete={(source, offset) => complete({ name, isPolicy }, source, offset)}
          onTyped={(source) => void typed(source)}
        />
      ) : plain.kind === "number" ? (
        <input
          {...common}
          type="number"
          step="any"
          value={plain.value}
          readOnly={isReadOnly}
          onChange={({ currentTarget: { value } }) => void typed(value)}
        />
      ) : (
        <select
          {...common}
          value={plain.value}
          disabled={isReadOnly}
          onChange={({ currentTarget: { value } }) => void typed(value)}
        >
          <option value="">{plain.unset}</option>
          {plain.options.map(({ source, title }) => (
            <option key={source} value={source}>
              {title}
            </option>
          ))}
        </select>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} role="alert" class="field-error">
          {error}
        </p>
      )}
    </div>
  );
}

type Plain =
  | { readonly kind: "number"; readonly value: string }
  | {
      readonly kind: "choice";
      readonly value: string;
      readonly unset: string;
      readonly options: readonly { readonly source: string; readonly title: string }[];
    };

/** The plain control of a simple literal, or of nothing where the schema allows simple literals alone. */
export function plainControl(
  schema: JsonObject,
  written: WrittenValue | undefined,
): Plain | undefined {
  const value = written?.value;
  const isLiteral = value === undefined || typeof value !== "object" || value === null;
  if (!isLiteral) return undefined;
  const { type, enum: choices, default: standard } = schema;
  const unset = standard === undefined ? "not set" : `not set (${String(standard)})`;
  if (type === "boolean") {
    if (value !== undefined && typeof value !== "boolean") return undefined;
    const options = ["true", "false"].map((source) => ({ source, title: source }));
    return { kind: "choice", value: value === undefined ? "" : `${value}`, unset, options };
  }
  if (
    Array.isArray(choices) &&
    choices.every((each) => typeof each === "string") &&
    (value === undefined || typeof value === "string")
  ) {
    if (value !== undefined && !choices.includes(value)) return undefined;
    const options = choices.map((each) => ({ source: JSON.stringify(each), title: `${each}` }));
    return {
      kind: "choice",
      value: value === undefined ? "" : JSON.stringify(value),
      unset,
      options,
    };
  }
  if ((type === "number" || type === "integer") && typeof value === "number") {
    return { kind: "number", value: `${value}` };
  }
  return undefined;
}
