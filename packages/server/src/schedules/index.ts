/** Schedules: when they fire, and the loop that fires them. */
export { fireTimes, HORIZON_MS, nextFireTime, type Timing, timingProblem } from "./fire-times.ts";
export { createScheduler } from "./scheduler.ts";
export { specOf } from "./start-fire.ts";
export { readSchedule, toBody, toIso } from "./stored-schedule.ts";
