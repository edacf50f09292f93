/** `millrace backup`: one consistent copy of the store, also while a server writes to it. */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { arg, command } from "../argv/flags.ts";
import {
  type Answer,
  type CliCommand,
  type CommandIo,
  flagText,
  type Input,
} from "../argv/spec.ts";
import { explainConfig } from "../config/explain.ts";
import { configOptions, dataFolder } from "../config/files.ts";
import { CliError, usage } from "../errors.ts";
import { clean } from "../output/text.ts";

export const commands: readonly CliCommand[] = [
  command("backup", "copy the store into one file, without its secrets", {
    args: [arg("file", "a file that is not there yet")],
    examples: [["backup backup.db", "also while a server runs"]],
    run,
  }),
];

const STORE_FILE = "millrace.db";

/** Copies the store into a file that is not there yet. */
async function run(input: Input, io: CommandIo): Promise<Answer> {
  const [name = ""] = input.args;
  const file = resolve(io.cwd, name);
  if (existsSync(file)) {
    throw usage(`${clean(name)} exists already`, "a backup never overwrites; choose another name");
  }
  const home = flagText(input, "home");
  const sources = await explainConfig(configOptions(input, io), io);
  if (home === undefined && sources.value("store.url") !== undefined) {
    throw usage(
      "the store is in PostgreSQL, as store.url says, and a backup is a copy of a data folder",
      "pg_dump copies it: see docs/guide/scale.md; --home names a data folder to copy",
    );
  }
  const dir = dataFolder(home, io);
  if (!existsSync(join(dir, STORE_FILE))) {
    throw new CliError("unavailable", `there is no store in ${dir}`, {
      hint: "millrace serve and millrace run --save make one",
      problem: "not_found",
    });
  }
  const { openStore, StoreError } = await import("@millrace/store");
  try {
    const store = await openStore({ dir, readonly: true });
    try {
      await store.backup(file);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!StoreError.isInstance(error)) throw error;
    if (error.code === "path_exists") throw usage(`${clean(name)} exists already`);
    throw new CliError("unavailable", clean(error.message));
  }
  return {
    value: { file, store: join(dir, STORE_FILE) },
    said: [`${clean(name)} has everything but keys and tokens`],
  };
}
