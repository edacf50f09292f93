/** `millrace models install`: a model from a URL, a hub or a file, registered once its digest is right. */

import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { ModelInstallArgs } from "@millrace/contracts";
import { omitUndefined, withApi } from "../../api/command.ts";
import { arg, option, say, serverCommand } from "../../argv/flags.ts";
import {
  type Answer,
  type CliCommand,
  type CommandIo,
  flagText,
  type Input,
  isOn,
} from "../../argv/spec.ts";
import { reason, usage } from "../../errors.ts";
import { clean } from "../../output/text.ts";
import { followJob } from "./follow-job.ts";

export const install: CliCommand = serverCommand(
  "models install",
  "fetch a model, check its digest and register it",
  {
    args: [arg("source", "an https URL, hub:<hub>/<item>, or a file")],
    flags: [
      option("id", "<id>", "its name here (default from its file name)"),
      option("sha256", "<hex>", "what it must be; needed for a URL"),
      { long: "allow-unverified", summary: "take what comes where no digest is known" },
      option("credential", "<name>", "account ai:<name> of the credential store, sent to the URL"),
    ],
    output: "check",
    examples: [["models install ./tiny.gguf --id tiny", "a file of this machine"]],
    run: installModel,
  },
);

const MAX_ID_LENGTH = 64;

/** Fetches a model, and the engine where none is, and waits until it is registered. */
async function installModel(input: Input, io: CommandIo): Promise<number | Answer> {
  const word = input.args[0] ?? "";
  const source = await sourceOf(word, io);
  const id = flagText(input, "id") ?? idOf(word);
  return withApi(input, io, true, async (api) => {
    if (api.where === "remote" && typeof source !== "string") {
      throw usage("a server installs no file of this machine", "give it an https URL");
    }
    const args: ModelInstallArgs = {
      source,
      id,
      fetchEngine: true,
      ...omitUndefined({
        sha256: flagText(input, "sha256"),
        headersCredential: flagText(input, "credential"),
      }),
      ...(isOn(input, "allow-unverified") && { allowUnverified: true }),
    };
    await followJob(api, io, { about: id, start: () => api.invoke("install_model", args) });
    await say(io, `${id} is installed; flows name it as the model "${id}" of the provider "local"`);
    return 0;
  });
}

/** A URL, `hub:<hub>/<item>`, or a file. */
async function sourceOf(word: string, io: CommandIo): Promise<ModelInstallArgs["source"]> {
  if (/^(?:https?|hub):/.test(word)) return word;
  const file = resolve(io.cwd, word);
  const found = await stat(file).catch((error: unknown) => {
    throw usage(
      `cannot read ${clean(word)}: ${reason(error)}`,
      "a source is an https URL, hub:<hub>/<item>, or a file",
    );
  });
  if (!found.isFile()) throw usage(`${clean(word)} is no file`);
  return { file };
}

/** The id of a model by the name of its file, which is what the manager would choose. */
function idOf(word: string): string {
  const path = URL.canParse(word) ? new URL(word).pathname : word;
  const id = basename(path)
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\.gguf$/, "")
    .replace(/-\d{5}-of-\d{5}$/, "")
    .replace(/[^a-z0-9._-]+|\.{2,}/g, "-")
    .slice(0, MAX_ID_LENGTH)
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, "");
  if (id === "") throw usage(`${clean(word)} names no model`, "choose a name with --id");
  return id;
}
