/** Commands on managed local models. Work that takes long is a job; its progress is on `subscribe_models`. */
import * as z from "zod";
import { pageSchema } from "../schemas/common.ts";
import {
  jobRefSchema,
  jobSchema,
  modelEngineSchema,
  modelIdSchema,
  modelInstallSchema,
  modelLoadSchema,
  modelSchema,
  modelStateSchema,
  modelsFrameSchema,
} from "../schemas/model.ts";
import type { ErrorCode } from "./problem.ts";
import { commandTable, get, none, nothing, pageArgs, post, remove } from "./table.ts";

const modelId = modelIdSchema;
const WORK_ERRORS: readonly ErrorCode[] = ["models_locked"];
const MODEL_ERRORS: readonly ErrorCode[] = [...WORK_ERRORS, "not_found", "in_use"];

/** Commands on managed models and their engines. */
export const modelCommands = commandTable({
  list_models: {
    summary: "List models, managed ones first",
    args: z.strictObject({ state: modelStateSchema.exactOptional(), ...pageArgs }),
    result: pageSchema(modelSchema),
    http: get("/api/models"),
  },
  get_model: {
    summary: "Show a model",
    args: z.strictObject({ modelId }),
    result: modelSchema,
    http: get("/api/models/:modelId"),
  },
  install_model: {
    summary: "Fetch a model, verify its digest and register it",
    args: modelInstallSchema,
    result: jobRefSchema,
    effect: "admin",
    idempotency: "key",
    errors: [...WORK_ERRORS, "digest_required", "already_exists", "disk_full"],
    http: post("/api/models/install", 202),
  },
  cancel_model_job: {
    summary: "Stop a model job; what was fetched is kept for the next try",
    args: jobRefSchema,
    result: jobSchema,
    effect: "admin",
    idempotency: "key",
    errors: [...WORK_ERRORS, "state_conflict"],
    http: post("/api/models/jobs/:jobId/cancel", 202),
  },
  remove_model: {
    summary: "Delete a model's files",
    args: z.strictObject({ modelId, force: z.boolean().default(false) }),
    result: nothing,
    effect: "admin",
    idempotency: "key",
    errors: [...MODEL_ERRORS, "operator_required"],
    http: remove("/api/models/:modelId"),
  },
  load_model: {
    summary: "Load a model into memory",
    args: modelLoadSchema,
    result: modelSchema,
    effect: "admin",
    idempotency: "key",
    errors: [...MODEL_ERRORS, "model_busy", "model_unavailable", "model_out_of_memory"],
    http: post("/api/models/:modelId/load", 202, { alsoStatus: [200] }),
  },
  unload_model: {
    summary: "Unload a model from memory",
    args: z.strictObject({ modelId, force: z.boolean().default(false) }),
    result: modelSchema,
    effect: "admin",
    idempotency: "key",
    errors: MODEL_ERRORS,
    http: post("/api/models/:modelId/unload", 202),
  },
  scan_models: {
    summary: "Look for models in the folders again",
    args: none,
    result: jobRefSchema,
    effect: "admin",
    idempotency: "key",
    errors: WORK_ERRORS,
    http: post("/api/models/scan", 202),
  },
  list_model_jobs: {
    summary: "List jobs on models, those that ended within a day too",
    args: z.strictObject({
      open: z.boolean().describe("Only jobs that have not ended.").exactOptional(),
    }),
    result: z.array(jobSchema),
    http: get("/api/models/jobs"),
  },
  get_model_job: {
    summary: "Show a job on models, with the sentence of its error",
    args: jobRefSchema,
    result: jobSchema,
    http: get("/api/models/jobs/:jobId"),
  },
  list_engines: {
    summary: "List the programs that run models",
    args: none,
    result: z.array(modelEngineSchema),
    http: get("/api/engines"),
  },
  fetch_engine: {
    summary: "Fetch the program that runs models",
    args: z.strictObject({ engineId: z.string().min(1).max(64) }),
    result: jobRefSchema,
    effect: "admin",
    idempotency: "key",
    errors: [...WORK_ERRORS, "disk_full"],
    http: post("/api/engines/:engineId/fetch", 202),
  },
  subscribe_models: {
    summary: "Follow installs, registrations and scans",
    args: none,
    result: nothing,
    errors: ["too_many_streams", "stream_only"],
    http: get("/api/models/events", { media: "text/event-stream" }),
    stream: { item: modelsFrameSchema, resume: false, only: true },
  },
});
