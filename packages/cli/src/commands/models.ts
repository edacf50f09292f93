/** `millrace models`: models that run on this machine, or on that of a server. Installing them is next door. */

import type { Model, ModelState } from "@millrace/contracts";
import {
  apiCommand,
  durationOf,
  listed,
  omitUndefined,
  pageOf,
  printResult,
  wholeNumber,
  withApi,
} from "../api/command.ts";
import { arg, option, PAGE_FLAGS, serverCommand } from "../argv/flags.ts";
import { type ArgSpec, type CliCommand, flagText, type Input, isOn } from "../argv/spec.ts";
import { formatBytes } from "../output/table.ts";
import { clean, formatTime } from "../output/text.ts";

const MODEL: ArgSpec = arg("id", "the model");
const FORCE = { long: "force", summary: "also while it is in use" } as const;

const list = apiCommand("models list", "list the models of this machine", {
  flags: [option("state", "<state>", "in this state, such as ready or loaded"), ...PAGE_FLAGS],
  examples: [["models list", "those that flows can name"]],
  command: "list_models",
  request: ({ input }) => ({
    ...pageOf(input),
    ...omitUndefined({ state: flagText(input, "state") as ModelState | undefined }),
  }),
  show: (page, all) =>
    listed(page, all, {
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
    }),
});

const running = serverCommand("models running", "list the models that are in memory", {
  flags: PAGE_FLAGS,
  examples: [["models running", "and what they do"]],
  run: (input, io) =>
    withApi(input, io, undefined, async (api) => {
      const page = await api.invoke("list_models", pageOf(input));
      const items = page.items.filter(({ runtime }) => runtime !== null);
      const shown = listed(
        { ...page, items },
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
      await printResult({ ...page, items }, shown, io);
      return 0;
    }),
});

const remove = apiCommand("models remove", "delete the files of a model", {
  args: [MODEL],
  flags: [FORCE],
  examples: [["models remove tiny", "for good"]],
  command: "remove_model",
  write: true,
  request: ({ input }) => ({
    modelId: modelOf(input),
    ...(isOn(input, "force") && { force: true }),
  }),
  show: (_, { input }) => ({ said: [`${clean(modelOf(input))} is deleted`] }),
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
    modelId: modelOf(input),
    wait: true,
    ...omitUndefined({
      contextSize: wholeNumber(input, "context-size"),
      threads: wholeNumber(input, "threads"),
      ttlMs: durationOf(input, "ttl"),
    }),
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
  request: ({ input }) => ({
    modelId: modelOf(input),
    ...(isOn(input, "force") && { force: true }),
  }),
  show: ({ id, state }) => ({ said: [`${id} is ${state}`] }),
});

const install = serverCommand("models install", "fetch a model, check its digest and register it", {
  args: [arg("source", "an https URL, hub:<hub>/<item>, or a file")],
  flags: [
    option("id", "<id>", "its name here (default from its file name)"),
    option("sha256", "<hex>", "what it must be; needed for a URL"),
    { long: "allow-unverified", summary: "take what comes where no digest is known" },
    option("credential", "<name>", "account ai:<name> of the credential store, sent to the URL"),
  ],
  output: "check",
  examples: [["models install ./tiny.gguf --id tiny", "a file of this machine"]],
  run: async (input, io) => (await import("./model-jobs.ts")).install(input, io),
});

const scan = serverCommand("models scan", "look for models in the folders again", {
  examples: [["models scan", "and say what is no model"]],
  run: async (input, io) => (await import("./model-jobs.ts")).scan(input, io),
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
    run: async (input, io) => (await import("./model-jobs.ts")).engine(input, io),
  },
);

export const commands: readonly CliCommand[] = [
  list,
  install,
  remove,
  scan,
  load,
  unload,
  running,
  engine,
];

function modelOf(input: Input): string {
  return input.args[0] ?? "";
}

function remarkOf({ error, verified, origin }: Model): string {
  if (error !== null) return error.code;
  if (origin !== "managed") return origin;
  return verified ? "" : "no digest was given";
}
