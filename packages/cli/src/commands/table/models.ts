/** Commands on managed local models. */

import { arg, entry, option, PAGE_FLAGS } from "../../argv/flags.ts";
import type { ArgSpec, CliCommand } from "../../argv/spec.ts";

const MODEL: ArgSpec = arg("id", "the model");
const FORCE = { long: "force", summary: "also while it is in use" } as const;

type Models = typeof import("../models.ts");
const from = (name: keyof Models) => (): ReturnType<CliCommand["load"]> =>
  import("../models.ts").then((module) => ({ run: module[name] }));
type Jobs = typeof import("../model-jobs.ts");
const job = (name: keyof Jobs) => (): ReturnType<CliCommand["load"]> =>
  import("../model-jobs.ts").then((module) => ({ run: module[name] }));

export const MODELS_COMMANDS: readonly CliCommand[] = [
  entry("models list", "list the models of this machine", {
    flags: [option("state", "<state>", "in this state, such as ready or loaded"), ...PAGE_FLAGS],
    examples: [["models list", "those that flows can name"]],
    load: from("list"),
  }),
  entry("models install", "fetch a model, check its digest and register it", {
    args: [arg("source", "an https URL, hub:<hub>/<item>, or a file")],
    flags: [
      option("id", "<id>", "its name here (default from its file name)"),
      option("sha256", "<hex>", "what it must be; needed for a URL"),
      { long: "allow-unverified", summary: "take what comes where no digest is known" },
      option("credential", "<name>", "account ai:<name> of the credential store, sent to the URL"),
    ],
    output: "check",
    examples: [["models install ./tiny.gguf --id tiny", "a file of this machine"]],
    load: job("install"),
  }),
  entry("models remove", "delete the files of a model", {
    args: [MODEL],
    flags: [FORCE],
    examples: [["models remove tiny", "for good"]],
    load: from("remove"),
  }),
  entry("models scan", "look for models in the folders again", {
    examples: [["models scan", "and say what is no model"]],
    load: job("scan"),
  }),
  entry("models load", "load a model into memory", {
    args: [MODEL],
    flags: [
      option("context-size", "<tokens>", "how much it remembers"),
      option("threads", "<n>", "how many it computes with"),
      option("ttl", "<duration>", "unload it when idle for so long; 0s: at once"),
    ],
    examples: [["models load tiny --server http://127.0.0.1:6455", "before it is needed"]],
    load: from("load"),
  }),
  entry("models unload", "unload a model from memory", {
    args: [MODEL],
    flags: [FORCE],
    examples: [["models unload tiny", "its files stay"]],
    load: from("unload"),
  }),
  entry("models running", "list the models that are in memory", {
    flags: PAGE_FLAGS,
    examples: [["models running", "and what they do"]],
    load: from("running"),
  }),
  entry("models engine", "fetch the program that runs models, or list what is there", {
    args: [
      arg("action", "fetch or list"),
      { name: "id", summary: "the program (default llama-cpp)" },
    ],
    output: "check",
    examples: [["models engine list", "whether it is there"]],
    load: job("engine"),
  }),
];
