/** Managed models, jobs and engines. */
import * as z from "zod";
import type { ModelsFrame } from "../commands/names.ts";
import type { Job, JobRef, Model, ModelEngine, ModelState } from "../commands/records/model.ts";
import { timeSchema } from "./common.ts";

const count = z.int().min(0);

/** `qwen3-4b:q4_k_m`: one or two words, no `..`, at most 96 characters. */
export const modelIdSchema: z.ZodType<string> = z
  .string()
  .max(96)
  .regex(
    /^(?!.*\.\.)[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?(?::[a-z0-9](?:[a-z0-9._-]{0,30}[a-z0-9])?)?$/,
    "must be a model id such as qwen3-4b:q4_k_m",
  );

/** Schema of `ModelState`. */
export const modelStateSchema: z.ZodType<ModelState> = z.enum([
  "installing",
  "ready",
  "loading",
  "loaded",
  "busy",
  "unloading",
  "crashed",
  "invalid",
]);

/** Schema of `Model`. */
export const modelSchema: z.ZodType<Model> = z.strictObject({
  id: modelIdSchema,
  state: modelStateSchema,
  bytes: count,
  sha256: z.string().nullable(),
  verified: z.boolean(),
  files: z.array(z.string()),
  source: z
    .discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("url"), url: z.string() }),
      z.strictObject({ kind: z.literal("hub"), hub: z.string(), item: z.string() }),
      z.strictObject({ kind: z.literal("file") }),
    ])
    .nullable(),
  origin: z.enum(["managed", "folder", "external"]),
  gguf: z
    .strictObject({
      arch: z.string(),
      contextLength: count,
      quant: z.string(),
      parameters: count,
      chatTemplate: z.boolean(),
      embedding: z.boolean(),
    })
    .nullable(),
  defaults: z.strictObject({
    contextSize: count.nullable(),
    threads: count.nullable(),
    ttlMs: z.int(),
  }),
  runtime: z
    .strictObject({
      pid: count,
      loadedAt: timeSchema,
      threads: count,
      contextSize: count,
      active: count,
      queued: count,
      expiresAt: timeSchema.nullable(),
    })
    .nullable(),
  error: z
    .strictObject({
      code: z.string(),
      message: z.string().exactOptional(),
      signal: z.string().exactOptional(),
      at: timeSchema.exactOptional(),
    })
    .nullable(),
  lastUsedAt: timeSchema.nullable(),
});

/** Schema of `JobRef`. */
export const jobRefSchema: z.ZodType<JobRef> = z.strictObject({ jobId: z.string().min(1).max(64) });

/** Schema of `Job`. */
export const jobSchema: z.ZodType<Job> = z.strictObject({
  id: z.string(),
  kind: z.enum(["install", "engine", "scan"]),
  modelId: z.string().exactOptional(),
  stage: z.string(),
  current: count,
  total: count,
  startedAt: timeSchema,
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
});

/** Schema of `ModelEngine`. */
export const modelEngineSchema: z.ZodType<ModelEngine> = z.strictObject({
  id: z.string(),
  version: z.string().nullable(),
  platform: z.string(),
  state: z.enum(["absent", "fetching", "ready", "invalid"]),
  source: z.enum(["peer", "fetched", "external"]).nullable(),
});

/** A frame of `subscribe_models`. @see specification, "Events" */
export const modelsFrameSchema: z.ZodType<ModelsFrame> = z.discriminatedUnion("channel", [
  z.strictObject({
    channel: z.literal("models:install_progress"),
    payload: z.strictObject({
      stage: z.string(),
      current: count,
      total: count,
      message: z.string(),
    }),
  }),
  z.strictObject({ channel: z.literal("models:registered"), payload: z.string() }),
  z.strictObject({
    channel: z.literal("models:scan_complete"),
    payload: z.strictObject({
      count,
      skipped: z.array(z.strictObject({ file: z.string(), reason: z.string() })),
      ms: z.number().min(0),
    }),
  }),
]);
