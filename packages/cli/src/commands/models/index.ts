import type { Model, ModelState } from "@millrace/contracts";
import {
  apiCommand,
  durationOf,
  listCommand,
  listed,
  pageOf,
  wholeNumber,
  withApi,
} from "../../api/command.ts";
import { arg, option, PAGE_FLAGS, say, serverCommand } from "../../argv/flags.ts";
import {
  type Answer,
  type ArgSpec,
  type CliCommand,
  type CommandIo,
  firstArg,
  flagText,
  type Input,
  isOn,
} from "../../argv/spec.ts";
import { CliError, usage } from "../../errors.ts";
import type { Ndjson } from "../../output/ndjson.ts";
import { formatBytes, tableLines } from "../../output/table.ts";
import { clean, formatTime } from "../../output/text.ts";
import { followJob } from "./follow-job.ts";
import { install } from "./install.ts";

const MODEL: ArgSpec = arg("id", "the model");
const ENGINE = "llama-cpp";
const FORCE = { long: "force", summary: "also while it is in use" } as const;

const list = listCommand("models list", "list the models of this machine", {
  command: "list_models",
  flags: [option("state", "<state>", "in this state, such as ready or loaded")],
  examples: [["models list", "those that flows can name"]],
  request: ({ input }) => ({ state: flagText(input, "state") as ModelState | undefined }),
  headings: ["MODEL", "STATE", "SIZE", "QUANT", "CONTEXT", ""],
  row: (model) => [
    model.id,
    model.state,
    formatBytes(model.bytes),
    model.gguf?.quant ?? "-",
    model.gguf === null ? "-" : `${model.gguf.contextLength}`,
    remarkOf(model),
  ],
  none: "no model; millrace models install SOURCE fetches one",
});

const running = serverCommand("models running", "list the models that are in memory", {
  flags: PAGE_FLAGS,
  examples: [["models running", "and what they do"]],
  run: (input, io) =>
    withApi(input, io, undefined, async (api) => {
      const page = await api.invoke("list_models", pageOf(input));
      const value = { ...page, items: page.items.filter(({ runtime }) => runtime !== null) };
      const shown = await listed(
        value,
        { input, io, api },
        {
          headings: ["MODEL", "STATE", "PID", "THREADS", "CONTEXT", "ACTIVE", "QUEUED", "UNTIL"],
          row: ({ id, state, runtime }) => [
            id,
            state,
            ...(runtime === null
              ? []
              : [runtime.pid, runtime.threads, runtime.contextSize, runtime.active, runtime.queued]
            ).map(String),
            formatTime(runtime?.expiresAt),
          ],
          none: "no model is loaded",
        },
      );
      return { value, ...shown };
    }),
});

const remove = apiCommand("models remove", "delete the files of a model", {
  args: [MODEL],
  flags: [FORCE],
  examples: [["models remove tiny", "for good"]],
  command: "remove_model",
  write: true,
  request: ({ input }) => ({ modelId: firstArg(input), force: isOn(input, "force") || undefined }),
  show: (_, { input }) => ({ said: [`${clean(firstArg(input))} is deleted`] }),
});

const load = apiCommand("models load", "load a model into memory", {
  args: [MODEL],
  flags: [
    option("context-size", "<tokens>", "how much it remembers"),
    option("threads", "<n>", "how many it computes with"),
    option("ttl", "<duration>", "unload it when idle for so long; 0s: at once"),
  ],
  examples: [["models load tiny --server http://127.0.0.1:6455", "before it is needed"]],
  command: "load_model",
  write: true,
  request: ({ input }) => ({
    modelId: firstArg(input),
    wait: true,
    contextSize: wholeNumber(input, "context-size"),
    threads: wholeNumber(input, "threads"),
    ttlMs: durationOf(input, "ttl"),
  }),
  show: ({ id, state }, { api }) => ({
    said: [
      `${id} is ${state}`,
      ...(api.where === "embedded"
        ? ["it is unloaded when this command ends; a server keeps it: millrace serve"]
        : []),
    ],
  }),
});

const unload = apiCommand("models unload", "unload a model from memory", {
  args: [MODEL],
  flags: [FORCE],
  examples: [["models unload tiny", "its files stay"]],
  command: "unload_model",
  write: true,
  request: ({ input }) => ({ modelId: firstArg(input), force: isOn(input, "force") || undefined }),
  show: ({ id, state }) => ({ said: [`${id} is ${state}`] }),
});

const scan = serverCommand("models scan", "look for models in the folders again", {
  examples: [["models scan", "and say what is no model"]],
  run: scanModels,
});

const engine = serverCommand(
  "models engine",
  "fetch the program that runs models, or list what is there",
  {
    args: [
      arg("action", "fetch or list"),
      { name: "id", summary: "the program (default llama-cpp)" },
    ],
    output: "check",
    examples: [["models engine list", "whether it is there"]],
    run: engineAction,
  },
);

const jobs = serverCommand("models jobs", "list the work on models, what ended within a day too", {
  flags: [{ long: "open", summary: "only what goes on" }],
  examples: [["models jobs --open", "what is being fetched"]],
  run: listJobs,
});

const cancel = apiCommand("models cancel", "give work on models up", {
  args: [arg("job", "the job, as models jobs names it")],
  examples: [["models cancel job_1", "what was fetched of it is kept for the next try"]],
  command: "cancel_model_job",
  write: true,
  request: ({ input }) => ({ jobId: input.args[0] ?? "" }),
  show: ({ id, stage }) => ({
    said: [stage === "cancelled" ? `${id} is cancelled` : `${id} ends as soon as its work lets go`],
  }),
});

export const commands: readonly CliCommand[] = [
  list,
  install,
  jobs,
  cancel,
  remove,
  scan,
  load,
  unload,
  running,
  engine,
];

function remarkOf({ error, verified, origin }: Model): string {
  if (error !== null) return error.code;
  if (origin !== "managed") return origin;
  return verified ? "" : "no digest was given";
}

/** Looks for models in the folders again, and says what was found. */
function scanModels(input: Input, io: CommandIo): Promise<number | Answer> {
  return withApi(input, io, true, async (api) => {
    const frames = await api.modelFrames(io.signal);
    const ref = await api.invoke("scan_models", {});
    for await (const { channel, payload } of frames) {
      if (channel !== "models:scan_complete") continue;
      const { count, skipped, ms } = payload;
      const rows = skipped.map(({ file, reason: why }) => [file, why]);
      const data = await tableLines(["SKIPPED", "WHY"], rows);
      const found = `${count} model${count === 1 ? "" : "s"} in ${Math.round(ms)} ms`;
      return { value: ref, data, said: [found] };
    }
    throw new CliError("unavailable", "nothing more is heard of the scan");
  });
}

async function printEach(values: readonly object[], json: Ndjson): Promise<number> {
  for (const each of values) await json.result(each);
  return 0;
}

function listJobs(input: Input, io: CommandIo): Promise<number | Answer> {
  return withApi(input, io, undefined, async (api) => {
    const found = await api.invoke("list_model_jobs", isOn(input, "open") ? { open: true } : {});
    if (io.json !== undefined) return printEach(found, io.json);
    if (found.length === 0) return { value: found, said: ["no work on models"] };
    const rows = found.map(({ id, kind, modelId, stage, current, total, startedAt, error }) => [
      id,
      kind,
      modelId ?? "-",
      stage,
      total > 1 ? `${formatBytes(current)} of ${formatBytes(total)}` : "-",
      formatTime(startedAt),
      error === null ? "" : `${error.code}: ${clean(error.message)}`,
    ]);
    const data = await tableLines(["JOB", "KIND", "MODEL", "STAGE", "DONE", "STARTED", ""], rows);
    return { value: found, data };
  });
}

/** `fetch`: the program that runs models, from the registry of packages. `list`: which there are. */
function engineAction(input: Input, io: CommandIo): Promise<number | Answer> {
  const [action, about = ENGINE] = input.args;
  if (action === "fetch") {
    return withApi(input, io, true, async (api) => {
      const start = () => api.invoke("fetch_engine", { engineId: about });
      await followJob(api, io, { about, start });
      await say(io, `${about} is ready`);
      return 0;
    });
  }
  if (action !== "list") throw usage(`models engine takes fetch or list, found "${action ?? ""}"`);
  return withApi(input, io, undefined, async (api) => {
    const engines = await api.invoke("list_engines", {});
    if (io.json !== undefined) return printEach(engines, io.json);
    const rows = engines.map(({ id, version, platform, state, source }) => [
      ...[id, version ?? "-", platform],
      ...[state, source ?? "-"],
    ]);
    const data = await tableLines(["ENGINE", "VERSION", "PLATFORM", "STATE", "FROM"], rows);
    return { value: engines, data };
  });
}
