/** A page with one part of the studio on it, for tests of parts with any value. */
import { problemError } from "@millrace/client";
import type { FlowInput, Json, JsonSchema, ProblemDocument, ValueRef } from "@millrace/contracts";
import { type ComponentChildren, render } from "preact";
import { useState } from "preact/hooks";
import { act } from "preact/test-utils";
import { type LogLine, LogView, ModelOutput } from "../../../src/page/parts/log-view.tsx";
import { RunDialog } from "../../../src/page/parts/run-dialog.tsx";
import { checkForm } from "../../../src/page/parts/schema-form/check-form.ts";
import { SchemaForm } from "../../../src/page/parts/schema-form/schema-form.tsx";
import { ValueView } from "../../../src/page/parts/value-view/value-view.tsx";
import { notification } from "../../../src/page/state/notifications.ts";
import "../../../src/styles/tokens.css";
import "../../../src/styles/base.css";

let held: Json | undefined;
const started: Record<string, Json>[] = [];

const main = (): HTMLElement => document.querySelector("main") as HTMLElement;

async function show(part: ComponentChildren): Promise<void> {
  render(null, main());
  await act(() =>
    render(
      <>
        {part}
        <Said />
      </>,
      main(),
    ),
  );
}

function Said(): ComponentChildren {
  return (
    <div role="status" aria-label="Notifications">
      {notification.value}
    </div>
  );
}

function HeldForm({ schema }: { readonly schema: JsonSchema }): ComponentChildren {
  const [value, setValue] = useState(held);
  return (
    <form>
      <SchemaForm
        schema={schema}
        value={value}
        findings={checkForm(schema, value)}
        onChange={(next) => {
          held = next;
          setValue(next);
        }}
      />
    </form>
  );
}

/** Shows a form. */
export function showForm(schema: JsonSchema, value?: Json): Promise<void> {
  held = value;
  return show(<HeldForm schema={schema} />);
}

/** JSON of what the form holds; what could not be read is in it as its text. */
export function heldJson(): string {
  return JSON.stringify(held) ?? "";
}

/** Goes from fields to JSON, or back. */
export async function toggle(): Promise<void> {
  const buttons = [...main().querySelectorAll("button")];
  await act(() => buttons.find((button) => button.textContent === "As JSON")?.click());
}

/** The text of the form as JSON. */
export function jsonText(): string {
  return main().querySelector<HTMLTextAreaElement>("textarea.json")?.value ?? "";
}

/** Types into the form as JSON. */
export async function typeJson(text: string): Promise<void> {
  const area = main().querySelector<HTMLTextAreaElement>("textarea.json") as HTMLTextAreaElement;
  await act(() => {
    area.value = text;
    area.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

/** Shows the dialog of a run. `refusal`: what starting it is answered with. */
export function showDialog(
  inputs: readonly FlowInput[],
  {
    draftKey,
    refusal,
  }: {
    readonly draftKey?: string;
    readonly refusal?: Pick<ProblemDocument, "code" | "title">;
  } = {},
): Promise<void> {
  started.length = 0;
  return show(
    <RunDialog
      title="Run flow"
      inputs={inputs}
      draftKey={draftKey}
      onClose={() => render(null, main())}
      onStart={async (values) => {
        if (refusal !== undefined) throw problemError(refusal as ProblemDocument);
        started.push(values);
      }}
    />,
  );
}

/** JSON of the inputs of all runs that were started. */
export function startedJson(): string {
  return JSON.stringify(started);
}

/** Shows a value, given as JSON. */
export function showValue(json: string, expression?: string): Promise<void> {
  return show(<ValueView value={JSON.parse(json) as Json} expression={expression} />);
}

/** Shows a value that is kept elsewhere; `json` comes when it is asked for. */
export function showReference(reference: ValueRef, json: string): Promise<void> {
  const load = async (): Promise<Json> => JSON.parse(json) as Json;
  return show(<ValueView reference={reference} onLoad={load} expression="fetch.body" />);
}

/** Shows lines of a log. */
export function showLog(lines: readonly LogLine[]): Promise<void> {
  return show(<LogView name="Log" lines={lines} />);
}

/** Shows what a model wrote. */
export function showOutput(text: string, reasoning?: string): Promise<void> {
  return show(<ModelOutput name="Model output" text={text} reasoning={reasoning} />);
}
