/** Values of two runs by name, such as their outputs: those that differ first, those that are equal folded below them. */
import type { Json, ValueRef } from "@millrace/contracts";
import { canonicalJson } from "@millrace/contracts/kit";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { DiffView } from "../../editor/diff-view.tsx";
import { Button } from "../../parts/button.tsx";
import { formatCount } from "../../parts/format.ts";
import { Problem } from "../../parts/problem.tsx";
import { escapedText } from "../../parts/value-view/escapes.ts";
import { ValueView } from "../../parts/value-view/value-view.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { loadValue } from "../../state/load-value.ts";
import { useValue } from "../../state/use-value.ts";

/** The values of one run. */
export interface NamedValues {
  readonly runId: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** Values that are kept beside the log. */
  readonly refs?: Readonly<Record<string, ValueRef>> | undefined;
  /** Names of values that are not shown, so that nobody can say whether they are equal. */
  readonly hidden?: ReadonlySet<string> | undefined;
}

/** Shows values. `kind`: what one of them is called, such as "output". */
export function ComparedValues({
  kind,
  a,
  b,
}: {
  readonly kind: "input" | "output";
  readonly a: NamedValues;
  readonly b: NamedValues;
}): ComponentChildren {
  const names = [
    ...new Set([a, b].flatMap(({ values, refs = {} }) => [values, refs]).flatMap(Object.keys)),
  ];
  const isHidden = (name: string): boolean => a.hidden?.has(name) || b.hidden?.has(name) || false;
  const hidden = names.filter(isHidden);
  const shown = names.filter((name) => !isHidden(name));
  const differing = shown.filter((name) => keyOf(a, name) !== keyOf(b, name));
  const equal = shown.filter((name) => !differing.includes(name));
  if (names.length === 0) return <p class="muted">Neither run has {kind}s.</p>;
  return (
    <>
      {differing.length === 0 && <p class="muted">Same {kind}s.</p>}
      {differing.map((name) => (
        <Differing key={name} kind={kind} name={name} a={a} b={b} />
      ))}
      {hidden.length > 0 && (
        <p class="muted">
          Secret, so not compared: <VisibleText text={hidden.join(", ")} />
        </p>
      )}
      {equal.length > 0 && (
        <details>
          <summary>{formatCount(equal.length, `equal ${kind}`)}</summary>
          <dl class="compared-equal">
            {equal.map((name) => (
              <div key={name}>
                <dt>
                  <bdi>{name}</bdi>
                </dt>
                <dd>
                  <Equal name={name} side={a} />
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  );
}

/** A text that two values share when they are equal; undefined: there is no value. */
function keyOf({ values, refs = {} }: NamedValues, name: string): string | undefined {
  if (Object.hasOwn(refs, name)) return `ref ${refs[name]?.ref}`;
  return Object.hasOwn(values, name) ? canonicalJson(values[name] as Json) : undefined;
}

function Equal({ name, side }: { readonly name: string; readonly side: NamedValues }) {
  const { runId, values, refs = {} } = side;
  const reference = Object.hasOwn(refs, name) ? refs[name] : undefined;
  return (
    <ValueView
      name={name}
      value={reference === undefined ? (values[name] as Json) : undefined}
      reference={reference}
      onLoad={reference && (() => loadValue(runId, reference))}
    />
  );
}

interface DifferingProps {
  readonly kind: string;
  readonly name: string;
  readonly a: NamedValues;
  readonly b: NamedValues;
}

/** A value that differs; where it is kept beside the log, it is read when a person asks for it. */
function Differing(props: DifferingProps): ComponentChildren {
  const { name, a, b } = props;
  const isKept = [a, b].some(({ refs = {} }) => Object.hasOwn(refs, name));
  const [isWanted, setWanted] = useState(!isKept);
  const only = keyOf(a, name) === undefined ? "B" : keyOf(b, name) === undefined ? "A" : undefined;
  return (
    <section class="compared-value">
      <h3>
        <bdi>{name}</bdi>{" "}
        <span class="muted">{only === undefined ? "changed" : `only in ${only}`}</span>
      </h3>
      {isWanted ? (
        <Difference {...props} />
      ) : (
        <Button onClick={() => setWanted(true)}>Load both values of {name}</Button>
      )}
    </section>
  );
}

function Difference({ kind, name, a, b }: DifferingProps): ComponentChildren {
  const { value, error } = useValue(`${a.runId} ${b.runId} ${name}`, async () => ({
    before: await textOf(a, name),
    after: await textOf(b, name),
  }));
  if (error !== undefined) return <Problem error={error} />;
  if (value === undefined) return <p class="muted">Loading…</p>;
  return <DiffView name={`${titleOf(kind)} ${name}`} {...value} />;
}

function titleOf(kind: string): string {
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
}

async function textOf(side: NamedValues, name: string): Promise<string> {
  const { runId, values, refs = {} } = side;
  const reference = refs[name];
  if (Object.hasOwn(refs, name) && reference !== undefined && reference.ref !== "") {
    return jsonText(await loadValue(runId, reference));
  }
  return Object.hasOwn(values, name) ? jsonText(values[name] as Json) : "";
}

/** A value as lines, so that two of them can be compared by line; what is not seen is escaped, as JSON allows. */
export function jsonText(value: Json | undefined): string {
  if (value === undefined) return "";
  // Members by name, so that another order is no difference.
  return escapedText(JSON.stringify(JSON.parse(canonicalJson(value)), undefined, 2));
}
