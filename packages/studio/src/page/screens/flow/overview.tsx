/** The inspector while no node is selected: inputs, outputs, triggers and requirements of the flow. */
import type { FlowSchedule, ScheduleArgs } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import type { FlowReading } from "../../../worker/protocol.ts";
import { backend, invokeOnce } from "../../backend.ts";
import type { FlowProject } from "../../editor/project.ts";
import { Button } from "../../parts/button.tsx";
import { formatSchedule, sentence } from "../../parts/format.ts";
import { Problem } from "../../parts/problem.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { everyItem } from "../../state/every-item.ts";
import { refusal } from "../../state/meta.ts";
import { notify } from "../../state/notifications.ts";
import { useAction } from "../../state/use-action.ts";
import { useValue } from "../../state/use-value.ts";
import { type Need, needsOf } from "./needs.ts";

/** The overview of a flow. `slug`: where it is stored; undefined: nowhere, so that nothing starts it. */
export function Overview({
  reading,
  project,
  slug,
}: {
  readonly reading: FlowReading;
  readonly project: FlowProject | undefined;
  readonly slug: string | undefined;
}): ComponentChildren {
  const { graph, types } = reading;
  const { title, inputs, outputs, schedules } = graph;
  return (
    <>
      <h2>
        <VisibleText text={title ?? (graph.id || "New flow")} />
      </h2>
      <h3>Inputs</h3>
      {inputs.length === 0 && <p class="muted">None: the flow starts at once.</p>}
      <Members
        members={inputs.map(({ name, description, ...rest }) => ({
          name,
          description,
          type: types.inputs.get(name),
          note:
            "default" in rest ? `Default: ${JSON.stringify(rest.default)}` : "A value is required.",
        }))}
      />
      <h3>Outputs</h3>
      {outputs.length === 0 && <p class="muted">None.</p>}
      <Members
        members={outputs.map(({ name, description }) => ({
          name,
          description,
          type: types.outputs.get(name),
        }))}
      />
      {schedules.length > 0 && <Schedules schedules={schedules} slug={slug} />}
      <h3>Needs</h3>
      {project === undefined ? (
        <p class="muted">Asking the server…</p>
      ) : (
        <Needs needs={needsOf(graph, project)} />
      )}
    </>
  );
}

interface Member {
  readonly name: string;
  readonly description: string | undefined;
  /** Undefined: nothing is known of its type. */
  readonly type: string | undefined;
  readonly note?: string | undefined;
}

/** Inputs or outputs with their types. */
function Members({ members }: { readonly members: readonly Member[] }): ComponentChildren {
  return (
    <dl class="members">
      {members.map(({ name, description, type, note }) => (
        <div key={name}>
          <dt>
            <code>
              <VisibleText text={name} />
            </code>{" "}
            <span class="muted">{type ?? "any value"}</span>
          </dt>
          <dd>
            <VisibleText
              text={note === undefined ? (description ?? "") : sentence(description ?? "")}
            />
            {note !== undefined && (
              <span class="muted">
                {" "}
                <VisibleText text={note} />
              </span>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const KINDS: Readonly<Record<Need["kind"], string>> = {
  connection: "Connection",
  provider: "Provider",
  model: "Model",
  flow: "Flow",
  effect: "Node",
};

function Needs({ needs }: { readonly needs: readonly Need[] }): ComponentChildren {
  if (needs.length === 0) return <p class="muted">Nothing: the flow only reads and computes.</p>;
  return (
    <ul aria-label="Needs" class="needs">
      {needs.map(({ kind, name, state, isMet, mend }) => (
        <li key={`${kind} ${name}`}>
          <span aria-hidden="true" class={isMet ? undefined : "mark-bad"}>
            {kind === "effect" ? "!" : isMet ? "✓" : "✗"}
          </span>{" "}
          {KINDS[kind]}{" "}
          <code>
            <VisibleText text={name} />
          </code>{" "}
          {state}
          {mend && (
            <>
              {" "}
              <a href={mend.href}>{mend.title}</a>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Schedules that the text declares; a schedule of the server of the same name is one that was activated. */
function Schedules({
  schedules,
  slug,
}: {
  readonly schedules: readonly FlowSchedule[];
  readonly slug: string | undefined;
}): ComponentChildren {
  const active = useValue(`${slug}`, async () => {
    if (slug === undefined) return [];
    const stored = await everyItem((page) => backend.invoke("list_schedules", page));
    return stored.filter(({ template }) => template === slug).map(({ name }) => name);
  });
  const activate = useAction(async (schedule: FlowSchedule) => {
    const args = { ...schedule, template: slug ?? "" } as ScheduleArgs;
    await invokeOnce("create_schedule", args);
    notify(`Schedule ${schedule.name} is active`);
    active.reload();
  });
  const why = slug === undefined ? "save the flow first" : refusal("admin");
  return (
    <>
      <h3>Schedules</h3>
      <Problem error={activate.error} />
      <ul class="schedules">
        {schedules.map((schedule) => (
          <li key={schedule.name}>
            <code>
              <VisibleText text={schedule.name} />
            </code>{" "}
            {formatSchedule(schedule)}{" "}
            {active.value?.includes(schedule.name) ? (
              <span class="muted">active</span>
            ) : (
              <Button
                aria-label={`Activate ${schedule.name}`}
                disabled={activate.isBusy}
                refusal={why}
                onClick={() => void activate.run(schedule)}
              >
                Activate
              </Button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
