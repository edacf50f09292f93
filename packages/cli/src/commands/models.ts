/** `millrace models`: models that run on this machine, or on that of a server. Installing them is next door. */

import type { Model, ModelState } from "@millrace/contracts";
import {
  apiCommand,
  durationOf,
  given,
  listed,
  pageOf,
  type Run,
  tell,
  wholeNumber,
  withApi,
} from "../api/command.ts";
import { flagText, type Input, isOn } from "../argv/spec.ts";
import { formatBytes } from "../output/table.ts";
import { clean, formatTime } from "../output/text.ts";

/** Models, managed ones first. */
export const list: Run = apiCommand({
  command: "list_models",
  args: ({ input }) => ({
    ...pageOf(input),
    ...given({ state: flagText(input, "state") as ModelState | undefined }),
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

/** Models that are in memory, and what they are doing. */
export const running: Run = (input, io) =>
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
    await tell({ ...page, items }, shown, io);
    return 0;
  });

/** Deletes the files of a model. */
export const remove: Run = apiCommand({
  command: "remove_model",
  write: true,
  args: ({ input }) => ({ modelId: modelOf(input), ...(isOn(input, "force") && { force: true }) }),
  show: (_, { input }) => ({ said: [`${clean(modelOf(input))} is deleted`] }),
});

/** Loads a model into memory, and waits until it is there. */
export const load: Run = apiCommand({
  command: "load_model",
  write: true,
  args: ({ input }) => ({
    modelId: modelOf(input),
    wait: true,
    ...given({
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

/** Unloads a model from memory. */
export const unload: Run = apiCommand({
  command: "unload_model",
  write: true,
  args: ({ input }) => ({ modelId: modelOf(input), ...(isOn(input, "force") && { force: true }) }),
  show: ({ id, state }) => ({ said: [`${id} is ${state}`] }),
});

function modelOf(input: Input): string {
  return input.args[0] ?? "";
}

function remarkOf({ error, verified, origin }: Model): string {
  if (error !== null) return error.code;
  if (origin !== "managed") return origin;
  return verified ? "" : "no digest was given";
}
