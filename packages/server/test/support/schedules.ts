/** Schedules of templates, and what they have started. */
import type { Page, RunSummary, Schedule } from "@millrace/contracts";
import type { RunningServer, StartOptions } from "@millrace/server";
import { createTestClock, type TestClock } from "./clock.ts";
import { ASK_PLAINLY, HELLO, SLEEP } from "./flows.ts";
import { invoke, serve } from "./server.ts";

export const START = Date.parse("2026-03-01T12:00:00.000Z");
export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;

/** START plus so many minutes. */
export const at = (minutes: number): string => new Date(START + minutes * MINUTE).toISOString();

/** A server, at START by its clock, with the templates `hello`, `ask` (waits for a person) and `sleep`. */
export async function serveWith(
  options: StartOptions = {},
  clock = createTestClock(START),
): Promise<{ readonly server: RunningServer; readonly clock: TestClock }> {
  const server = await serve({ clock, ...options });
  await saveTemplate(server, "hello", HELLO);
  await saveTemplate(server, "ask", ASK_PLAINLY);
  await saveTemplate(server, "sleep", SLEEP);
  return { server, clock };
}

/** Replaces a schedule. */
export function put(
  server: RunningServer,
  id: string,
  body: object,
  ifMatch?: string,
): Promise<Response> {
  return fetch(`${server.url}/api/schedules/${id}`, {
    method: "PUT",
    headers: { "content-type": "application/json", ...(ifMatch && { "if-match": ifMatch }) },
    body: JSON.stringify(body),
  });
}

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
