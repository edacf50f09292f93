/** The program that runs managed models, where one was fetched; and versions of it that nothing uses any more. */

import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ModelEngine } from "@millrace/contracts";
import { toCliError } from "../../api/errors.ts";
import { CliError } from "../../errors.ts";
import {
  type Check,
  type DoctorContext,
  type Finding,
  fail,
  ok,
  usableConfig,
  warn,
} from "./check.ts";

export const modelEngine: Check = {
  name: "model engine",
  async look(context) {
    const folder = join(context.data, "engines");
    if (!existsSync(folder)) return ok("none was fetched");
    const engines = await enginesOf(context);
    if (engines === undefined) return [];
    const found: Finding[] = [];
    for (const engine of engines) {
      found.push(
        ...findingsOf(engine),
        ...(await oldVersions(join(folder, engine.id), engine, context)),
      );
    }
    return found;
  },
};

function findingsOf({ id, version, state }: ModelEngine): readonly Finding[] {
  switch (state) {
    case "ready":
      return ok(`${id} ${version ?? ""}`.trim());
    case "absent":
      return ok(`${id} is not there; models need it`);
    case "fetching":
      return warn(`${id} is being fetched`, "wait, then look again");
    case "invalid":
      return fail(`${id} ${version ?? ""} is not whole`, "millrace models engine fetch");
  }
}

/** The engines as the commands on models see them; undefined where these have nothing to say. */
async function enginesOf(context: DoctorContext): Promise<readonly ModelEngine[] | undefined> {
  const config = await usableConfig(context);
  if (config === undefined) return undefined;
  const { createEmbedded } = await import("../../api/embedded.ts");
  try {
    const api = await createEmbedded(config, { write: false }, context.io);
    try {
      return await api.invoke("list_engines", {});
    } finally {
      await api.close();
    }
  } catch (error) {
    // What does not open is the finding of another check.
    if (toCliError(error) instanceof CliError) return undefined;
    throw error;
  }
}

async function oldVersions(
  folder: string,
  { id, version, source }: ModelEngine,
  { prune }: DoctorContext,
): Promise<readonly Finding[]> {
  const there = existsSync(folder) ? await readdir(folder) : [];
  const old = there.filter((name) => source !== "fetched" || name !== version);
  if (old.length === 0) return [];
  if (!prune)
    return warn(
      `${id} ${old.join(", ")} is not used any more`,
      "millrace doctor --prune deletes it",
    );
  for (const name of old) await rm(join(folder, name), { recursive: true, force: true });
  return ok(`${id} ${old.join(", ")} is deleted`);
}
