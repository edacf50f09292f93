/** The hidden `__probe-credentials`: writes, reads and deletes one entry in a process that `doctor` can kill when it hangs. */

import { randomBytes } from "node:crypto";
import { arg, command } from "../argv/flags.ts";
import type { CliCommand, CommandIo, Input } from "../argv/spec.ts";
import { readCredentials } from "../config/sections.ts";
import { openCredentialStore } from "../credentials/store.ts";
import { CliError } from "../errors.ts";

export const commands: readonly CliCommand[] = [
  command("__probe-credentials", "try the credential store for doctor", {
    args: [
      arg("store", "its name"),
      arg("dir", "data folder"),
      { name: "key", summary: "reference to the key of the file", mayBeEmpty: true },
      { name: "folder", summary: "where the path in it begins" },
    ],
    output: "text",
    examples: [],
    run,
  }),
];

const ENTRY = "probe:doctor";

/** Ends with 6 and a sentence when the store does not work. */
async function run(
  { args: [store = "", dir = "", key = "", folder = ""] }: Input,
  io: CommandIo,
): Promise<number> {
  const choice = readCredentials({ store, ...(key !== "" && { key }) }, { home: dir, folder }, io);
  const opened = openCredentialStore(choice);
  const value = randomBytes(16).toString("hex");
  try {
    await opened.store.set(ENTRY, value);
    const read = await opened.store.get(ENTRY);
    await opened.store.delete(ENTRY);
    if (read === value) return 0;
    throw new CliError("unavailable", "it does not give back what it was given");
  } finally {
    await opened.close();
  }
}
