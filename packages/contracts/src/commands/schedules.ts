/** Commands on schedules. Exactly one of `cron`, `everyMs` and `at` says when. */
import * as z from "zod";
import { runRefSchema } from "../schemas/run.ts";
import { schedulePageSchema, scheduleSchema, scheduleShape } from "../schemas/schedule.ts";
import {
  change,
  commandTable,
  get,
  ifMatch,
  ifMatchHeader,
  nothing,
  pageArgs,
  post,
  remove,
} from "./table.ts";

const scheduleId = z.string().min(1).max(64);

const timesOf = (args: object): readonly string[] =>
  ["cron", "everyMs", "at"].filter((name) => Object.hasOwn(args, name));
const oneTime = (args: object): boolean => timesOf(args).length === 1;
const anyTime = (args: object): boolean => timesOf(args).length > 0;
const ONE_TIME = "give exactly one of cron, everyMs and at";

/** Commands on schedules. */
export const scheduleCommands = commandTable({
  list_schedules: {
    summary: "List schedules, and with the first page those that flows propose",
    args: z.strictObject(pageArgs),
    result: schedulePageSchema,
    http: get("/api/schedules"),
  },
  get_schedule: {
    summary: "Show a schedule",
    args: z.strictObject({ scheduleId }),
    result: scheduleSchema,
    http: get("/api/schedules/:scheduleId"),
  },
  create_schedule: {
    summary: "Run a template at times",
    args: z.strictObject(scheduleShape).refine(oneTime, ONE_TIME),
    result: scheduleSchema,
    effect: "write",
    idempotency: "key",
    errors: ["not_found", "input_invalid"],
    http: post("/api/schedules", 201),
  },
  update_schedule: {
    summary: "Replace a schedule",
    args: z.strictObject({ scheduleId, ...scheduleShape, ifMatch }).refine(oneTime, ONE_TIME),
    result: scheduleSchema,
    effect: "write",
    errors: ["not_found", "input_invalid"],
    http: change("PUT", "/api/schedules/:scheduleId", ifMatchHeader),
  },
  delete_schedule: {
    summary: "Delete a schedule",
    args: z.strictObject({ scheduleId, ifMatch }),
    result: nothing,
    effect: "write",
    http: remove("/api/schedules/:scheduleId", ifMatchHeader),
  },
  run_schedule_now: {
    summary: "Start the run of a schedule now",
    args: z.strictObject({ scheduleId }),
    result: runRefSchema,
    effect: "run",
    idempotency: "key",
    errors: ["flow_invalid", "input_invalid", "too_many_runs"],
    http: post("/api/schedules/:scheduleId/run", 202),
  },
  preview_schedule: {
    summary: "Show when a schedule fires next",
    args: z
      .strictObject({
        scheduleId: scheduleId
          .describe("Absent: that of a schedule with these times.")
          .exactOptional(),
        cron: scheduleShape.cron,
        everyMs: scheduleShape.everyMs,
        at: scheduleShape.at,
        timezone: scheduleShape.timezone,
        n: z.int().min(1).max(100).default(5),
      })
      .refine(
        (args) => (args.scheduleId === undefined ? oneTime(args) : !anyTime(args)),
        "give exactly one of scheduleId, cron, everyMs and at",
      ),
    result: z.strictObject({ times: z.array(z.iso.datetime()) }),
    http: get("/api/schedules/:scheduleId/next"),
  },
});
