/**
 * Schedules that flows declare.
 *   P1  A declared schedule fires only after a person has activated it; until then every command that meets it says so.
 *   P2  Activating again changes the stored schedule of the same template and name; it never makes a second one.
 */

import type { FlowSchedule, Schedule, ScheduleArgs, Template } from "@millrace/contracts";
import { formatDuration } from "../argv/values.ts";
import { usage } from "../errors.ts";
import { clean, formatTime } from "../output/text.ts";
import { type Api, itemsOf } from "./api.ts";

/** When a schedule fires: `0 7 * * 1 (UTC)`, `every 15m`, `at 2030-01-01T00:00:00Z`. */
export function timesOf({ cron, everyMs, at, timezone = "UTC" }: FlowSchedule | Schedule): string {
  if (cron !== undefined) return clean(`${cron} (${timezone})`);
  return everyMs === undefined
    ? clean(`at ${at}`)
    : `every ${formatDuration(everyMs).replace(/ 0[ms]$/, "")}`;
}

/** One line that says that a schedule does not fire, and the command that activates it. `from`: a file or a template. */
export function proposedLine(schedule: FlowSchedule, from: string): string {
  const { name } = schedule;
  return clean(
    `schedule ${name}, ${timesOf(schedule)}, is proposed and does not fire; millrace schedule add --from ${from} activates it`,
  );
}

/** One line that says when an active schedule fires. */
export function activeLine({ template, name, enabled, nextAt }: Schedule): string {
  const state = enabled ? `fires next at ${formatTime(nextAt)}` : "is stored, and paused";
  return clean(`schedule ${name} of ${template} ${state}`);
}

/** Lines about every proposed schedule of a stored template that is not active. */
export async function proposedLines(api: Api, slug: string): Promise<string[]> {
  const { proposed = [] } = await api.invoke("list_schedules", { limit: 1 });
  return proposed
    .filter(({ template }) => template === slug)
    .map(({ schedule }) => proposedLine(schedule, slug));
}

/** Activates the schedules of a template with these names, or all of them. Throws a usage error for a name that it has not. */
export async function activate(
  api: Api,
  { slug, graph }: Template,
  names: readonly string[] = [],
): Promise<Schedule[]> {
  const declared = graph.schedules ?? [];
  if (declared.length === 0) {
    throw usage(
      `${slug} declares no schedule`,
      `millrace schedule add --template ${slug} makes one`,
    );
  }
  const unknown = names.find((name) => !declared.some((each) => each.name === name));
  if (unknown !== undefined) {
    const known = declared.map(({ name }) => name).join(", ");
    throw usage(`${slug} declares no schedule "${unknown}"`, `it declares ${known}`);
  }
  const wanted = declared.filter(({ name }) => names.length === 0 || names.includes(name));
  const stored = await storedSchedules(api, slug);
  const made: Schedule[] = [];
  for (const schedule of wanted) {
    const args = { template: slug, ...schedule } as ScheduleArgs;
    const known = stored.find(({ name }) => name === schedule.name);
    if (known === undefined) made.push(await api.invoke("create_schedule", args));
    else {
      const { id: scheduleId, tags } = known;
      const kept = tags === undefined ? {} : { tags };
      const change = { ...args, ...kept, scheduleId, ifMatch: "*" };
      made.push(await api.invoke("update_schedule", change));
    }
  }
  return made;
}

async function storedSchedules(api: Api, slug: string): Promise<Schedule[]> {
  const found: Schedule[] = [];
  for await (const each of itemsOf((page) => api.invoke("list_schedules", page))) {
    if (each.template === slug) found.push(each);
  }
  return found;
}
