/** The flow that a command line names: a file, or the slug of a stored template. A file that is there wins. */

import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { ClientError } from "@millrace/client";
import type { Template } from "@millrace/contracts";
import type { Api } from "../api/api.ts";
import { toCliError } from "../api/errors.ts";
import type { Config } from "../config/load.ts";
import { CliError } from "../errors.ts";
import { folderOf } from "../files.ts";
import type { CliIo } from "../output/io.ts";
import { clean } from "../output/text.ts";

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** Whether the word can only be the slug of a template. A folder is no flow. */
export async function isSlug(name: string, io: CliIo): Promise<boolean> {
  if (!SLUG.test(name)) return false;
  return stat(resolve(io.cwd, name)).then(
    (found) => found.isDirectory(),
    () => true,
  );
}

/** Folder from which the project of this flow is looked for. */
export async function projectStart(name: string, io: CliIo): Promise<string> {
  return (await isSlug(name, io)) ? io.cwd : folderOf(name, io);
}

/** The end of a command whose word is neither a file nor a template. */
async function noFlow(slug: string, io: CliIo): Promise<CliError> {
  const isFolder = await stat(resolve(io.cwd, slug)).catch(() => undefined);
  return new CliError(
    "unavailable",
    `cannot read ${slug}: ${isFolder ? "it is a folder" : "no such file"}, and no template has this name`,
    { hint: "millrace templates list shows them", problem: "not_found" },
  );
}

/** The newest version of a template of this installation, read beside whoever writes. Throws `unavailable` where there is none. */
export async function storedTemplate(
  slug: string,
  { credentials: { dir } }: Config,
  io: CliIo,
): Promise<Template> {
  const { openStore, StoreError } = await import("@millrace/store");
  try {
    const store = await openStore({ dir, readonly: true });
    try {
      const template = await store.templates.get(slug);
      if (template !== null) return template;
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!StoreError.isInstance(error)) throw error;
    if (error.code !== "store_unavailable") throw new CliError("unavailable", clean(error.message));
  }
  throw await noFlow(slug, io);
}

/** The newest version. Throws `unavailable` where there is none. */
export async function askTemplate(slug: string, api: Api, io: CliIo): Promise<Template> {
  try {
    return await api.invoke("get_template", { slug });
  } catch (error) {
    const isMissing = ClientError.isInstance(error) && error.code === "not_found";
    throw isMissing ? await noFlow(slug, io) : toCliError(error, { subject: slug });
  }
}
