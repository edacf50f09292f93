/** `millrace models install`, `scan` and `engine`: work that takes long, with its progress. */

import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { ModelInstallArgs } from "@millrace/contracts";
import { omitUndefined, printResult, withApi } from "../api/command.ts";
import { type CommandIo, flagText, isOn, type Run } from "../argv/spec.ts";
import { CliError, reason, usage } from "../errors.ts";
import { followJob } from "../models/follow-job.ts";
import { tableLines } from "../output/table.ts";
import { clean } from "../output/text.ts";

/** The one engine that there is. */
const ENGINE = "llama-cpp";
const MAX_ID_LENGTH = 64;

/** Fetches a model, and the engine where none is, and waits until it is registered. */
export const install: Run = async (input, io) => {
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
};

/** Looks for models in the folders again, and says what was found. */
export const scan: Run = (input, io) =>
  withApi(input, io, true, async (api) => {
    const frames = await api.modelFrames(io.signal);
    const ref = await api.invoke("scan_models", {});
    for await (const { channel, payload } of frames) {
      if (channel !== "models:scan_complete") continue;
      const { count, skipped, ms } = payload;
      const rows = skipped.map(({ file, reason: why }) => [file, why]);
      const data = tableLines(["SKIPPED", "WHY"], rows);
      const found = `${count} model${count === 1 ? "" : "s"} in ${Math.round(ms)} ms`;
      await printResult(ref, { data, said: [found] }, io);
      return 0;
    }
    throw new CliError("unavailable", "nothing more is heard of the scan");
  });

/** `fetch`: the program that runs models, from the registry of packages. `list`: which there are. */
export const engine: Run = (input, io) => {
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
    for (const each of engines) await io.json?.result(each);
    if (io.json !== undefined) return 0;
    const rows = engines.map(({ id, version, platform, state, source }) => [
      id,
      version ?? "-",
      platform,
      state,
      source ?? "-",
    ]);
    const data = tableLines(["ENGINE", "VERSION", "PLATFORM", "STATE", "FROM"], rows);
    await printResult(engines, { data }, io);
    return 0;
  });
};

async function say(io: CommandIo, line: string): Promise<void> {
  if (io.json === undefined && io.verbosity !== "quiet") await io.err.write(`${line}\n`);
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
