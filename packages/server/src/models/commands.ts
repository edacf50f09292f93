/** Commands of managed models. Work that takes long is a job; what becomes of it is on the stream of models. */
import { setTimeout as pause } from "node:timers/promises";
import type { Job, Model, ModelManager } from "@millrace/contracts";
import { isErrorCode } from "@millrace/contracts/commands";
import { Answer, keyed, notWired, pageOf, wire } from "../dispatch/index.ts";
import { notFound, ProblemError } from "../errors.ts";
import type { CommandCall, HandlerList } from "../ports.ts";
import { OVER } from "./open-models.ts";

/** Time that the look at a file takes; its process is made after it, and a load is then answered with a model that loads. */
const LOOK_MS = 50;

/** Does something with the manager. Throws `command_not_wired` where there is none, and what the manager refuses as a problem. */
async function withManager<T>(
  { host }: Pick<CommandCall, "host">,
  work: (manager: ModelManager) => T | Promise<T>,
): Promise<T> {
  if (host.models === null) throw notWired();
  try {
    return await work(await host.models.manager());
  } catch (error) {
    throw fromModels(error);
  }
}

/** The job of an id. Throws `not_found`, which names it a job, not a model. */
function jobOf(manager: ModelManager, jobId: string): Job {
  const job = manager.jobs().find(({ id }) => id === jobId);
  if (job === undefined) throw notFound("job");
  return job;
}

/** Managed models first, then by id: the key of a page. */
const keyOf = ({ id, origin }: Model): string => `${origin === "managed" ? 0 : 1} ${id}`;

/** A member that was omitted is absent, not undefined. */
function given<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

export const modelHandlers: HandlerList = [
  wire("list_models", ({ state, ...page }, call) =>
    withManager(call, (manager) => {
      const models = [...manager.list(state === undefined ? {} : { state })];
      const sorted = models.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      const filter = { list: "models", state: state ?? null };
      return pageOf(sorted, keyOf, page, { store: call.host.store, filter });
    }),
  ),
  wire("get_model", ({ modelId }, call) => withManager(call, (manager) => manager.get(modelId))),
  wire("install_model", (args, call) =>
    keyed(call, "install_model", args, () =>
      withManager(call, (manager) => ({ jobId: manager.install(args).id })),
    ),
  ),
  wire("cancel_model_job", (args, call) =>
    keyed(call, "cancel_model_job", args, () =>
      withManager(call, (manager) => manager.cancelJob(jobOf(manager, args.jobId).id)),
    ),
  ),
  wire("remove_model", ({ modelId, force }, call) =>
    keyed(call, "remove_model", { modelId, force }, () =>
      withManager(call, async (manager) => {
        await manager.remove(modelId, { force });
        return null;
      }),
    ),
  ),
  wire("load_model", async (args, call) => {
    const { modelId, wait, ...options } = args;
    const answer = await keyed(call, "load_model", args, () =>
      withManager(call, async (manager) => {
        manager.get(modelId); // an unknown one is refused, not begun
        const loading = manager.load(modelId, given(options));
        if (wait) return loading;
        // How it ends is seen in the model's state.
        const begun = loading.catch((error: unknown) =>
          call.host.log.warn({ err: fromModels(error) }, "model.load_failed"),
        );
        await Promise.race([begun, pause(LOOK_MS, undefined, { ref: false })]);
        return manager.get(modelId);
      }),
    );
    return wait ? new Answer(answer.value, { status: 200, headers: answer.headers }) : answer;
  }),
  wire("unload_model", (args, call) =>
    keyed(call, "unload_model", args, () =>
      withManager(call, (manager) => manager.unload(args.modelId, { force: args.force })),
    ),
  ),
  wire("scan_models", (args, call) =>
    keyed(call, "scan_models", args, () =>
      withManager(call, (manager) => {
        const scanning = manager.scan();
        scanning.catch((error: unknown) =>
          call.host.log.warn({ err: fromModels(error) }, "model.scan_failed"),
        );
        const job = manager.jobs().findLast(({ kind }) => kind === "scan");
        if (job === undefined) throw new Error("a scan has no job");
        return { jobId: job.id };
      }),
    ),
  ),
  wire("list_model_jobs", ({ open = false }, call) =>
    withManager(call, (manager) => manager.jobs().filter((job) => !open || !OVER.has(job.stage))),
  ),
  wire("get_model_job", ({ jobId }, call) => withManager(call, (manager) => jobOf(manager, jobId))),
  wire("list_engines", (_args, call) => withManager(call, (manager) => [...manager.engines()])),
  wire("fetch_engine", (args, call) =>
    keyed(call, "fetch_engine", args, () =>
      withManager(call, (manager) => ({ jobId: manager.fetchEngine(args.engineId).id })),
    ),
  ),
];

// The package may be absent, so its class is known by its mark alone.
const MARK = Symbol.for("@millrace/local-models.error.ModelError");
/** Seconds after which a busy model, or the memory that it waits for, may be free. */
const RETRY_AFTER_S = 5;
const MAY_PASS: ReadonlySet<string> = new Set(["model_busy", "model_out_of_memory"]);

/** The problem that `error` is when it comes from a manager; anything else as it is. Codes of jobs and processes are `model_unavailable`. */
export function fromModels(error: unknown): unknown {
  if (typeof error !== "object" || error === null || !(MARK in error)) return error;
  const { code, message } = error as unknown as { readonly code: string; readonly message: string };
  if (code === "not_found") {
    return new ProblemError("not_found", { members: { resource: "model" }, cause: error });
  }
  const known = isErrorCode(code) ? code : "model_unavailable";
  return new ProblemError(known, {
    detail: message,
    cause: error,
    ...(MAY_PASS.has(code) && { headers: { "Retry-After": `${RETRY_AFTER_S}` } }),
  });
}
