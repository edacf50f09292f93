/** One value in a tree of values: its name, what it is, and what it holds once it is open. */
import type { Json } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import {
  cutAt,
  linkOf,
  MEMBER_STEP,
  membersOf,
  type Step,
  sizeOf,
  TEXT_STEP,
} from "./value-text.ts";
import { VisibleText } from "./visible-text.tsx";

/** Values below this level are closed at first. */
const OPEN_LEVELS = 2;

/** A value with its name. The first one has no name: it is what the view shows. */
export function ValueRow({
  value,
  path,
  chosen,
  onChoose,
}: {
  readonly value: Json;
  readonly path: readonly Step[];
  readonly chosen: readonly Step[];
  readonly onChoose: (path: readonly Step[]) => void;
}): ComponentChildren {
  const size = sizeOf(value);
  const [isOpen, setOpen] = useState(path.length < OPEN_LEVELS);
  const [count, setCount] = useState(MEMBER_STEP);
  const step = path.at(-1);
  const members = size !== undefined && isOpen ? membersOf(value) : [];
  const isChosen = path.length === chosen.length && path.every((each, at) => each === chosen[at]);
  return (
    <li>
      {(step !== undefined || size !== undefined) && (
        <button
          type="button"
          class="value-name"
          aria-expanded={size === undefined ? undefined : isOpen}
          aria-current={isChosen ? "true" : undefined}
          onClick={() => {
            onChoose(path);
            if (size !== undefined) setOpen(!isOpen);
          }}
        >
          {step === undefined ? "whole" : <VisibleText text={stepText(step)} />}
        </button>
      )}{" "}
      {size === undefined ? (
        <Scalar value={value} />
      ) : (
        <span class="muted">{Array.isArray(value) ? `[${size}]` : `{${size}}`}</span>
      )}
      {members.length > 0 && (
        <ul>
          {members.slice(0, count).map(([name, inner]) => (
            <ValueRow
              key={name}
              value={inner}
              path={[...path, name]}
              chosen={chosen}
              onChoose={onChoose}
            />
          ))}
          {members.length > count && (
            <li>
              <button type="button" onClick={() => setCount(count + MEMBER_STEP)}>
                Show more
              </button>{" "}
              <span class="muted">
                {count.toLocaleString()} of {members.length.toLocaleString()}
              </span>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

function Scalar({ value }: { readonly value: Json }): ComponentChildren {
  if (typeof value === "string") return <TextValue text={value} />;
  return (
    <span class={`value-${value === null ? "null" : typeof value}`}>{JSON.stringify(value)}</span>
  );
}

function TextValue({ text }: { readonly text: string }): ComponentChildren {
  const [length, setLength] = useState(TEXT_STEP);
  const link = linkOf(text);
  if (link !== undefined) {
    return (
      <span class="value-string">
        <a href={link.href} target="_blank" rel="noopener noreferrer nofollow">
          <VisibleText text={text} />
        </a>{" "}
        <span class="muted">({link.host})</span>
      </span>
    );
  }
  const shown = cutAt(text, length);
  return (
    <span class="value-string">
      "<VisibleText text={shown} />
      {shown.length < text.length ? (
        <>
          …{" "}
          <button type="button" onClick={() => setLength(length + TEXT_STEP)}>
            Show more
          </button>{" "}
          <span class="muted">
            {shown.length.toLocaleString()} of {text.length.toLocaleString()} characters
          </span>
        </>
      ) : (
        '"'
      )}
    </span>
  );
}

function stepText(step: Step): string {
  return typeof step === "number" ? `[${step}]` : step === "" ? '""' : cutAt(step, MAX_NAME);
}

/** Longest name of a member that is shown, in UTF-16 units. */
const MAX_NAME = 1_000;
