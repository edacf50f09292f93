/** The regions "Inputs" and "Outputs": what the run was given, and what it has given, each value by its name. */
import type { Json, ValueRef } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { backend } from "../../backend.ts";
import { messageOf } from "../../parts/problem.tsx";
import { ValueView } from "../../parts/value-view/value-view.tsx";
import { loadValue } from "../../state/load-value.ts";
import { useValue } from "../../state/use-value.ts";
import { useRun } from "./run-context.ts";

/** The inputs that the run was started with, and the outputs once it has ended; a flow without either shows nothing. */
export function RunValues(): ComponentChildren {
  const { session, moment } = useRun();
  const { runId } = session;
  const { summary } = moment.shown.value.view;
  const { value: given, error } = useValue(runId, () =>
    backend.invoke("get_run_inputs", { runId }),
  );
  return (
    <div class="run-values">
      {error !== undefined && <p class="problem">The inputs cannot be shown: {messageOf(error)}</p>}
      <Values title="Inputs" values={given?.inputs} />
      <Values title="Outputs" values={summary?.outputs} refs={summary?.outputRefs} />
    </div>
  );
}

function Values({
  title,
  values = {},
  refs = {},
}: {
  readonly title: string;
  readonly values: Readonly<Record<string, unknown>> | undefined;
  /** Values that are kept beside the log. */
  readonly refs?: Readonly<Record<string, ValueRef>> | undefined;
}): ComponentChildren {
  const { runId } = useRun().session;
  const names = [...new Set([...Object.keys(values), ...Object.keys(refs)])];
  if (names.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <dl class="fields">
        {names.map((name) => {
          const reference = Object.hasOwn(refs, name) ? refs[name] : undefined;
          return (
            <div key={name}>
              <dt>
                <bdi>{name}</bdi>
              </dt>
              <dd>
                <ValueView
                  name={name}
                  value={reference === undefined ? (values[name] as Json) : undefined}
                  reference={reference}
                  onLoad={reference && (() => loadValue(runId, reference))}
                />
              </dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}
