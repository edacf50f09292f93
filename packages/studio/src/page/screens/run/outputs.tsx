/** The region "Outputs": what the run has given, each output by its name. */
import type { Json } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { ValueView } from "../../parts/value-view/value-view.tsx";
import { loadValue } from "../../state/load-value.ts";
import { useRun } from "./run-context.ts";

/** The outputs of a run that has ended; nothing before that, or when the flow has none. */
export function Outputs(): ComponentChildren {
  const { session, moment } = useRun();
  const { summary } = moment.shown.value.view;
  if (summary === null) return null;
  const { outputs, outputRefs = {} } = summary;
  const names = [...new Set([...Object.keys(outputs), ...Object.keys(outputRefs)])];
  if (names.length === 0) return null;
  return (
    <section class="outputs" aria-label="Outputs">
      <h2>Outputs</h2>
      <dl class="fields">
        {names.map((name) => {
          const reference = Object.hasOwn(outputRefs, name) ? outputRefs[name] : undefined;
          return (
            <div key={name}>
              <dt>
                <bdi>{name}</bdi>
              </dt>
              <dd>
                <ValueView
                  name={name}
                  value={reference === undefined ? (outputs[name] as Json) : undefined}
                  reference={reference}
                  onLoad={reference && (() => loadValue(session.runId, reference))}
                />
              </dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}
