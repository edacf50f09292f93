/** One value in a tree of values: its name, what it is, and what it holds once it is open. */
import type { Json } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../button.tsx";
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
  onGrow,
}: {
  readonly value: Json;
  readonly path: readonly Step[];
  readonly chosen: readonly Step[];
  readonly onChoose: (path: readonly Step[]) => void;
  /** More of a value is in the page. */
  readonly onGrow: () => void;
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
        <Button
          class="value-name"
          tabIndex={-1}
          aria-expanded={size === undefined ? undefined : isOpen}
          aria-current={isChosen ? "true" : undefined}
          onClick={() => {
            onChoose(path);
            if (size !== undefined) setOpen(!isOpen);
          }}
        >
          {step === undefined ? "whole" : <VisibleText text={stepText(step)} />}
        </Button>
      )}{" "}
      {size === undefined ? (
        <Scalar value={value} onGrow={onGrow} />
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
              onGrow={onGrow}
            />
          ))}
          {members.length > count && (
            <li>
              <ShowMore
                shown={count}
                total={members.length}
                step={MEMBER_STEP}
                onMore={() => {
                  setCount(count + MEMBER_STEP);
                  onGrow();
                }}
              />
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

interface ScalarProps<T> {
  readonly value: T;
  readonly onGrow: () => void;
}

function Scalar({ value, onGrow }: ScalarProps<Json>): ComponentChildren {
  if (typeof value === "string") return <TextValue value={value} onGrow={onGrow} />;
  return (
    <span class={`value-${value === null ? "null" : typeof value}`}>{JSON.stringify(value)}</span>
  );
}

function TextValue({ value, onGrow }: ScalarProps<string>): ComponentChildren {
  const [length, setLength] = useState(TEXT_STEP);
  const link = linkOf(value);
  if (link !== undefined) {
    return (
      <span class="value-string">
        <a href={link.href} target="_blank" rel="noopener noreferrer nofollow" tabIndex={-1}>
          <VisibleText text={value} />
        </a>{" "}
        <span class="muted">({link.host})</span>
      </span>
    );
  }
  const shown = cutAt(value, length);
  return (
    <span class="value-string">
      "<VisibleText text={shown} />
      {shown.length === value.length ? (
        '"'
      ) : (
        <>
          …{" "}
          <ShowMore
            shown={shown.length}
            total={value.length}
            step={TEXT_STEP}
            unit="characters"
            onMore={() => {
              setLength(length + TEXT_STEP);
              onGrow();
            }}
          />
        </>
      )}
    </span>
  );
}

function ShowMore({
  shown,
  total,
  step,
  unit = "",
  onMore,
}: {
  readonly shown: number;
  readonly total: number;
  readonly step: number;
  readonly unit?: string;
  readonly onMore: () => void;
}): ComponentChildren {
  return (
    <>
      <Button
        tabIndex={-1}
        onClick={({ currentTarget }) => {
          if (shown + step >= total) focusBefore(currentTarget);
          onMore();
        }}
      >
        Show more
      </Button>{" "}
      <span class="muted">
        {shown.toLocaleString()} of {total.toLocaleString()} {unit}
      </span>
    </>
  );
}

/** Gives the focus to the value before a button that goes away. */
function focusBefore(button: HTMLElement): void {
  const row = button.closest("li");
  const before = row?.previousElementSibling ?? row;
  before?.querySelector<HTMLElement>(".value-name")?.focus();
}

function stepText(step: Step): string {
  return typeof step === "number" ? `[${step}]` : step === "" ? '""' : cutAt(step, MAX_NAME);
}

/** Longest name of a member that is shown, in UTF-16 units. */
const MAX_NAME = 1_000;
