/** Schedules: which flows start at which times, and those that flows propose. */
import type { FlowSchedule, ProposedSchedule, Schedule, ScheduleArgs } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { backend, invokeOnce } from "../../backend.ts";
import { Button } from "../../parts/button.tsx";
import { actionsColumn, type Column, DataTable } from "../../parts/data-table.tsx";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { formatSchedule } from "../../parts/format.ts";
import { ListView } from "../../parts/list-screen.tsx";
import { NewItem } from "../../parts/new-item.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Time } from "../../parts/time.tsx";
import { placeHref } from "../../router.ts";
import { refusal } from "../../state/meta.ts";
import { notify } from "../../state/notifications.ts";
import { useAction } from "../../state/use-action.ts";
import { type ListState, useList } from "../../state/use-list.ts";
import { NewSchedule } from "./new-schedule.tsx";

/** A schedule, or one that a flow proposes. */
type Item = { readonly active: Schedule } | { readonly proposed: ProposedSchedule };

/** The table of schedules with what is done to them, the proposed ones, and the form of a new one. */
export function Schedules(): ComponentChildren {
  const all = useList<Item>({
    key: "",
    load: async (cursor) => {
      const page = await backend.invoke("list_schedules", cursor === undefined ? {} : { cursor });
      return {
        items: [
          ...(page.proposed ?? []).map((proposed) => ({ proposed })),
          ...page.items.map((active) => ({ active })),
        ],
        nextCursor: page.nextCursor,
      };
    },
    changedBy: ({ kind }) => kind === "run.started",
  });
  const active = all.items?.flatMap((item) => ("active" in item ? [item.active] : []));
  const proposed = all.items?.flatMap((item) => ("proposed" in item ? [item.proposed] : [])) ?? [];
  return (
    <>
      <NewItem
        title="New schedule"
        form={(close) => <NewSchedule onCreated={all.reload} onClose={close} />}
      />
      <ListView
        list={{ ...all, items: active }}
        empty={
          <section class="empty">
            <h2>No schedules</h2>
            <p>A schedule starts a stored flow at the times of a cron expression.</p>
          </section>
        }
      >
        {(items) => <ScheduleTable schedules={items} list={all} />}
      </ListView>
      {proposed.length > 0 && <Proposed proposed={proposed} onActivated={all.reload} />}
    </>
  );
}

function ScheduleTable({
  schedules,
  list,
}: {
  readonly schedules: readonly Schedule[];
  readonly list: ListState<Item>;
}): ComponentChildren {
  const [deleted, setDeleted] = useState<Schedule>();
  const [startedId, setStartedId] = useState<string>();
  const runNow = useAction(async ({ id }: Schedule) => {
    const { runId } = await invokeOnce("run_schedule_now", { scheduleId: id });
    setStartedId(runId);
    notify(`Started ${runId}`);
  });
  const pause = useAction(async (schedule: Schedule) => {
    const { id: scheduleId, enabled } = schedule;
    const { value, etag } = await backend.call("get_schedule", { scheduleId });
    const args = { ...argsOf(value), scheduleId, enabled: !enabled };
    await backend.invoke("update_schedule", { ...args, ...(etag && { ifMatch: etag }) });
    list.reload();
  });
  const remove = useAction(async ({ id: scheduleId }: Schedule) => {
    const { etag } = await backend.call("get_schedule", { scheduleId });
    await backend.invoke("delete_schedule", { scheduleId, ...(etag && { ifMatch: etag }) });
    setDeleted(undefined);
    list.reload();
  });
  const [mayRun, mayChange] = [refusal("run"), refusal("admin")];
  const columns: readonly Column<Schedule>[] = [
    {
      title: "Flow",
      isHead: true,
      cell: ({ template, version }) => (
        <>
          <a href={placeHref(["flows", template])}>{template}</a>
          {version !== undefined && <span class="muted"> v{version}</span>}
        </>
      ),
    },
    { title: "Name", cell: ({ name = "" }) => name },
    { title: "Times", cell: (schedule) => formatSchedule(schedule) },
    { title: "State", cell: ({ enabled }) => (enabled ? "active" : "paused") },
    { title: "Next", cell: ({ nextAt }) => <Time at={nextAt} /> },
    {
      title: "Last",
      cell: ({ lastFire, lastError }) => (
        <>
          <Time at={lastFire ?? null} />
          {lastError !== undefined && <p class="problem">{lastError}</p>}
        </>
      ),
    },
    actionsColumn((schedule) => (
      <>
        <Button disabled={runNow.isBusy} refusal={mayRun} onClick={() => void runNow.run(schedule)}>
          Run now
        </Button>
        <Button
          disabled={pause.isBusy}
          refusal={mayChange}
          onClick={() => void pause.run(schedule)}
        >
          {schedule.enabled ? "Pause" : "Resume"}
        </Button>
        <Button class="danger" refusal={mayChange} onClick={() => setDeleted(schedule)}>
          Delete
        </Button>
      </>
    )),
  ];
  const error = runNow.error ?? pause.error ?? remove.error;
  return (
    <>
      <Problem error={error} />
      {startedId !== undefined && (
        <p>
          Started{" "}
          <a class="run-id" href={placeHref(["runs", startedId])}>
            {startedId}
          </a>
        </p>
      )}
      <DataTable name="Schedules" columns={columns} rows={schedules} keyOf={({ id }) => id} />
      {deleted !== undefined && (
        <ConfirmDialog
          title={`Delete the schedule of ${deleted.template}?`}
          action="Delete"
          isBusy={remove.isBusy}
          onConfirm={() => void remove.run(deleted)}
          onClose={() => setDeleted(undefined)}
        >
          <p>
            {deleted.template} is no longer started at {formatSchedule(deleted)}. Its runs stay.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** The arguments with which a schedule was created. */
function argsOf({ id, nextAt, lastFire, lastError, ...args }: Schedule): ScheduleArgs {
  return args;
}

function Proposed({
  proposed,
  onActivated,
}: {
  readonly proposed: readonly ProposedSchedule[];
  readonly onActivated: () => void;
}): ComponentChildren {
  const activate = useAction(async ({ template, schedule }: ProposedSchedule) => {
    const args = { ...(schedule as FlowSchedule & Partial<ScheduleArgs>), template };
    await invokeOnce("create_schedule", args);
    notify(`Schedule ${schedule.name} is active`);
    onActivated();
  });
  const why = refusal("admin");
  const columns: readonly Column<ProposedSchedule>[] = [
    {
      title: "Flow",
      isHead: true,
      cell: ({ template }) => <a href={placeHref(["flows", template])}>{template}</a>,
    },
    { title: "Name", cell: ({ schedule }) => schedule.name },
    { title: "Times", cell: ({ schedule }) => formatSchedule(schedule) },
    actionsColumn((item) => (
      <Button
        aria-label={`Activate ${item.schedule.name}`}
        disabled={activate.isBusy}
        refusal={why}
        onClick={() => void activate.run(item)}
      >
        Activate
      </Button>
    )),
  ];
  return (
    <section>
      <h2>Proposed by flows</h2>
      <p class="muted">
        A flow can declare schedules. They start nothing until they are activated.
      </p>
      <Problem error={activate.error} />
      <DataTable
        name="Proposed schedules"
        columns={columns}
        rows={proposed}
        keyOf={({ template, schedule }) => `${template} ${schedule.name}`}
      />
    </section>
  );
}
