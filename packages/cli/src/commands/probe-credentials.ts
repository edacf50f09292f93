/** The hidden `__probe-credentials`: one entry is written, read and deleted, so that `doctor` may kill whoever hangs. */

import { randomBytes } from "node:crypto";
import type { CommandIo, Input } from "../argv/spec.ts";
import { readCredentials } from "../config/sections.ts";
import { openCredentialStore } from "../credentials/store.ts";
import { CliError } from "../errors.ts";

const ENTRY = "probe:doctor";

/** Words: the name of the store and the data folder. Ends with 6 and a sentence when the store does not work. */
export async function run({ args: [store = "", dir = ""] }: Input, io: CommandIo): Promise<number> {
  const choice = { ...readCredentials({ store }, undefined, io), dir };
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
