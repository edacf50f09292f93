/** The settings document that `update_settings` patches. What could widen a sandbox is no part of it. */
import * as z from "zod";
import type { Settings } from "../commands/records/server.ts";

const DAY_MAX = 36_500; // a century; whoever keeps longer exports
const GIB = 1_073_741_824;

const days = z.int().min(1).max(DAY_MAX);
const ms = z.int().min(1).max(86_400_000);

/**
 * Settings of a server: strict, every member has a default, so `settingsSchema.parse({})` is the document of a fresh
 * installation.
 */
export const settingsSchema: z.ZodType<Settings> = z.strictObject({
  run: z
    .strictObject({
      timeoutMs: z.int().min(1).nullable().default(null),
      onFailure: z.enum(["stop", "finish"]).default("stop"),
      concurrency: z.int().min(1).max(1_000).default(16),
      confirm: z.enum(["ask", "approve", "reject"]).default("ask"),
    })
    .prefault({}),
  retention: z
    .strictObject({
      journalDays: days.default(30),
      journalRuns: z.int().min(1).default(10_000),
      journalBytes: z
        .int()
        .min(1)
        .default(5 * GIB),
      runDays: days.default(365),
      feedDays: days.default(7),
      fireDays: days.default(90),
    })
    .prefault({}),
  ai: z
    .strictObject({
      defaultProvider: z.string().min(1).max(64).nullable().default(null),
      defaultModels: z.record(z.string().min(1).max(64), z.string().min(1).max(200)).default({}),
      keepContent: z.boolean().default(true),
      circuit: z
        .strictObject({
          failures: z.int().min(1).max(1_000).default(5),
          windowMs: ms.default(60_000),
          coolDownMs: ms.default(30_000),
        })
        .prefault({}),
    })
    .prefault({}),
});
