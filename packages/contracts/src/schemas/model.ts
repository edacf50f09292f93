/** Managed models, jobs and engines. */
import * as z from "zod";
import { type Infer, type InferArgs, timeSchema } from "./common.ts";

const count = z.int().min(0);

/** `qwen3-4b:q4_k_m`: one or two words, no `..`, at most 96 characters. */
export const modelIdSchema = z
  .string()
  .max(96)
  .regex(
    /^(?!.*\.\.)[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?(?::[a-z0-9](?:[a-z0-9._-]{0,30}[a-z0-9])?)?$/,
    "must be a model id such as qwen3-4b:q4_k_m",
  );

/** Schema of `ModelState`. */
export const modelStateSchema = z.enum([
  "installing",
  "ready",
  "loading",
  "loaded",
  "busy",
  "unloading",
  "crashed",
  "invalid",
]);

/** Where a managed model stands, from known to loaded. */
export type ModelState = Infer<typeof modelStateSchema>;

/** Schema of `Model`. */
export const modelSchema = z.strictObject({
  id: modelIdSchema,
  state: modelStateSchema,
  bytes: count,
  sha256: z.string().nullable(),
  verified: z.boolean().describe("The digest was known beforehand and fits."),
  files: z.array(z.string()),
  source: z
    .discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("url"), url: z.string() }),
      z.strictObject({ kind: z.literal("hub"), hub: z.string(), item: z.string() }),
      z.strictObject({ kind: z.literal("file") }),
    ])
    .nullable()
    .describe("A URL has neither user info nor query."),
  origin: z
    .enum(["managed", "folder", "external"])
    .describe("`folder`: in a folder of the operator's, never changed by us."),
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
    ttlMs: z.int().describe("0: unload when idle; -1: never."),
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

/** A model on this machine. */
export type Model = Infer<typeof modelSchema>;
/** A loaded model; neither its port nor its token is shown. */
export type ModelRuntime = NonNullable<Model["runtime"]>;

/** Schema of `JobRef`. */
export const jobRefSchema = z.strictObject({ jobId: z.string().min(1).max(64) });

/** A job that was begun; its progress is in the stream of models. */
export type JobRef = Infer<typeof jobRefSchema>;

/** Schema of `Job`. */
export const jobSchema = z.strictObject({
  id: z.string(),
  kind: z.enum(["install", "engine", "scan"]),
  modelId: z.string().exactOptional(),
  stage: z.string(),
  current: count,
  total: count.describe("0: unknown."),
  startedAt: timeSchema,
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
});

/** Work on models. A job that fails ends in the stage `error`, never in a failed command. */
export type Job = Infer<typeof jobSchema>;

/** Schema of `ModelEngine`. */
export const modelEngineSchema = z.strictObject({
  id: z.string(),
  version: z.string().nullable(),
  platform: z.string(),
  state: z.enum(["absent", "fetching", "ready", "invalid"]),
  source: z.enum(["peer", "fetched", "external"]).nullable(),
});

/** A program that runs models. */
export type ModelEngine = Infer<typeof modelEngineSchema>;

/** A frame of `subscribe_models`. @see specification, "Events" */
export const modelsFrameSchema = z.discriminatedUnion("channel", [
  z.strictObject({
    channel: z.literal("models:install_progress"),
    payload: z.strictObject({
      stage: z.string(),
      current: count,
      total: count,
      message: z.string(),
      jobId: z.string().describe("The job, as `get_model_job` shows it.").exactOptional(),
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

/** A frame of `subscribe_models`: one of the desktop channels of managed models. */
export type ModelsFrame = Infer<typeof modelsFrameSchema>;

/** Schema of `ModelInstallArgs`. */
export const modelInstallSchema = z.strictObject({
  source: z
    .union([z.string().min(1).max(2_048), z.strictObject({ file: z.string().min(1).max(4_096) })])
    .describe("An https URL, `hub:<hub>/<item>`, or a file of the server's machine (admin only)."),
  id: modelIdSchema.exactOptional(),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hex digits")
    .describe("Needed for a URL unless `allowUnverified`.")
    .exactOptional(),
  allowUnverified: z.boolean().default(false),
  headersCredential: z
    .string()
    .regex(/^ai:[a-z0-9][a-z0-9._-]{0,63}$/)
    .describe("Account of the credential store, sent to the first origin only.")
    .exactOptional(),
  fetchEngine: z.boolean().default(false).describe("Also fetches the engine where none is."),
});

/** Where a model comes from. */
export type ModelInstallArgs = InferArgs<typeof modelInstallSchema>;

/** Schema of what `load_model` takes. */
export const modelLoadSchema = z.strictObject({
  modelId: modelIdSchema,
  contextSize: z.int().min(1).exactOptional(),
  threads: z.int().min(1).max(1_024).exactOptional(),
  ttlMs: z.int().min(-1).describe("0: unload when idle; -1: never.").exactOptional(),
  wait: z.boolean().default(false),
});

/** Overrides of one load. */
export type ModelLoadOptions = Omit<Infer<typeof modelLoadSchema>, "modelId" | "wait">;
