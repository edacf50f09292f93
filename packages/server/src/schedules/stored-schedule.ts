/** Schedules as the store keeps them, and as commands show them. */
import type {
  Executor,
  Json,
  RunRef,
  RunSpec,
  Schedule,
  ScheduleArgs,
  StartRows,
} from "@millrace/contracts";
import type { Store } from "@millrace/store";
import { ProblemError } from "../errors.ts";
import { specOfTemplate } from "../flows/stored-flows.ts";
import { toIso } from "./read-schedule.ts";

/** The stored form of the arguments of a command. `createdAt`: epoch milliseconds. */
export function toBody(args: ScheduleArgs, createdAt: number): Json {
  return { ...args, createdAt } as unknown as Json;
}

/** Access to the flow of a schedule, and the executor of its runs. */
export interface FirePorts {
  readonly store: Pick<Store, "templates" | "settings">;
  readonly executor: Executor;
}

/** The run of a fire time, or why there is none. `full`: the run queue takes no more; `fired`: it has one already; `error`: see `message`. */
export type FireResult =
  | { readonly ref: RunRef }
  | { readonly refused: "full" }
  | { readonly refused: "fired" }
  | { readonly refused: "error"; readonly message: string };

/** Refusals that the same schedule would meet again. */
const FAULTS_OF_SCHEDULE: ReadonlySet<unknown> = new Set(["flow_invalid", "input_invalid"]);

/** The run that a schedule starts. Rejects with `not_found` when its template, or that version of it, is gone. */
export async function specOf(
  schedule: Schedule,
  store: FirePorts["store"],
  { trigger, fireTime }: { readonly trigger: "schedule" | "api"; readonly fireTime: number },
): Promise<RunSpec> {
  const { id, name, template: slug, version, inputs = {}, tags } = schedule;
  const source = { scheduleId: id, fireTime: toIso(fireTime), ...(name !== undefined && { name }) };
  const spec = await specOfTemplate(store, { slug, version }, { inputs, trigger, source, tags });
  if (spec !== undefined) return spec;
  const which = version === undefined ? "" : `, version ${version}`;
  throw new ProblemError("not_found", {
    detail: `there is no template ${slug}${which}`,
    members: { resource: "template" },
  });
}

/** Starts the run of a fire time, together with `rows`. Rejects when it may work later: store and executor decide. */
export async function startFire(
  schedule: Schedule,
  fireTime: number,
  rows: StartRows,
  { store, executor }: FirePorts,
): Promise<FireResult> {
  try {
    const spec = await specOf(schedule, store, { trigger: "schedule", fireTime });
    return { ref: await executor.start(spec, rows) };
  } catch (error) {
    const {
      code,
      message,
      diagnostics = [],
    } = error as {
      readonly code?: unknown;
      readonly message: string;
      readonly diagnostics?: readonly { readonly message: string }[];
    };
    if (code === "already_fired") return { refused: "fired" };
    if (code === "too_many_runs") return { refused: "full" };
    if (code === "not_found") return { refused: "error", message };
    if (!FAULTS_OF_SCHEDULE.has(code)) throw error;
    const [first] = diagnostics;
    return {
      refused: "error",
      message: first === undefined ? message : `${message}: ${first.message}`,
    };
  }
}
