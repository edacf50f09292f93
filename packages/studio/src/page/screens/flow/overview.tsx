/** The inspector while no node is selected: what the flow takes and gives, what starts it, and what it needs. */
import type { FlowGraph, FlowSchedule, JsonObject, ScheduleArgs } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { backend, invokeOnce } from "../../backend.ts";
import type { FlowProject } from "../../editor/project.ts";
import { formatSchedule } from "../../parts/format.ts";
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
  graph,
  project,
  slug,
}: {
  readonly graph: FlowGraph;
  readonly project: FlowProject | undefined;
  readonly slug: string | undefined;
}): ComponentChildren {
  const { title, inputs, outputs, schedules } = graph;
  return (
    <>
      <h2>
        <VisibleText text={title ?? (graph.id || "New flow")} />
      </h2>
      <h3>Inputs</h3>
      {inputs.length === 0 && <p class="muted">None: the flow starts at once.</p>}
      <dl class="members">
        {inputs.map(({ name, schema, description, ...rest }) => (
          <div key={name}>
            <dt>
              <code>
                <VisibleText text={name} />
              </code>{" "}
              <span class="muted">{typeName(schema)}</span>
            </dt>
            <dd>
              <VisibleText text={description ?? ""} />
              {"default" in rest ? (
                <span class="muted">
                  {" "}
                  Default: <VisibleText text={JSON.stringify(rest.default)} />
                </span>
              ) : (
                <span class="muted"> Required.</span>
              )}
            </dd>
          </div>
        ))}
      </dl>
      <h3>Outputs</h3>
      {outputs.length === 0 && <p class="muted">None.</p>}
      <dl class="members">
        {outputs.map(({ name, schema, description }) => (
          <div key={name}>
            <dt>
              <code>
                <VisibleText text={name} />
              </code>{" "}
              <span class="muted">{typeName(schema)}</span>
            </dt>
            <dd>
              <VisibleText text={description ?? ""} />
            </dd>
          </div>
        ))}
      </dl>
      {schedules.length > 0 && <Schedules schedules={schedules} slug={slug} />}
      <h3>Needs</h3>
      {project === undefined ? (
        <p class="muted">The server is being asked…</p>
      ) : (
        <Needs needs={needsOf(graph, project)} />
      )}
    </>
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
  if (needs.length === 0) return <p class="muted">Nothing: it only reads and computes.</p>;
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
              <button
                type="button"
                aria-label={`Activate ${schedule.name}`}
                disabled={why !== undefined || activate.isBusy}
                title={why}
                onClick={() => void activate.run(schedule)}
              >
                Activate
              </button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function typeName(schema: JsonObject | undefined): string {
  const type = schema?.["type"];
  return typeof type === "string" ? type : Array.isArray(type) ? type.join(" or ") : "any";
}
