/** Schedules of templates, and what they have started. */
import type { Page, RunSummary, Schedule } from "@millrace/contracts";
import type { RunningServer } from "@millrace/server";
import { invoke } from "./server.ts";

/** Saves a flow as a template, unless it is there as it is. */
export async function saveTemplate(
  server: RunningServer,
  slug: string,
  dsl: string,
): Promise<void> {
  await invoke(server, "save_template", { slug, dsl, ifMatch: "*" }).catch(() =>
    invoke(server, "save_template", { slug, dsl }),
  );
}

export function createSchedule(server: RunningServer, args: object): Promise<Schedule> {
  return invoke(server, "create_schedule", args);
}

export function getSchedule(server: RunningServer, scheduleId: string): Promise<Schedule> {
  return invoke(server, "get_schedule", { scheduleId });
}

/** Runs of a schedule, oldest first. */
export async function runsOf(
  server: RunningServer,
  trigger: "schedule" | "api" = "schedule",
): Promise<readonly RunSummary[]> {
  const page = await invoke<Page<RunSummary>>(server, "list_runs", { trigger, limit: 200 });
  return [...page.items].reverse();
}

/** The fire times of runs. */
export function fireTimesOf(runs: readonly RunSummary[]): readonly string[] {
  return runs.map(({ source }) =>
    source !== undefined && "fireTime" in source ? source.fireTime : "none",
  );
}
