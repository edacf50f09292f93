/** `millrace secrets`: plain secrets of the credential store, by name. Values come in and never go out. */

import type { OpenedStore } from "@millrace/server/connections";
import { arg, command, listOf } from "../argv/flags.ts";
import type { Answer, CliCommand, CommandIo, Input } from "../argv/spec.ts";
import { readSecret } from "../ask.ts";
import { configOptions, warnOn } from "../config/files.ts";
import { loadConfig } from "../config/load.ts";
import { openCredentialStore } from "../credentials/store.ts";
import { CliError, usage } from "../errors.ts";
import { clean } from "../output/text.ts";

/** Keys of AI providers, and secrets that extensions were granted. */
const NAME = /^(?:ai:[a-z0-9][a-z0-9._-]{0,63}|ext:[A-Za-z_][A-Za-z0-9_]{0,63})$/;

const set = command("secrets set", "store a secret, from stdin or a hidden prompt", {
  args: [arg("name", "ai:<name> or ext:<NAME>")],
  examples: [["secrets set ai:openai < key.txt", "from a file"]],
  async run(input, io) {
    const secret = readName(input);
    return withStore(input, io, async ({ store, name }) => {
      await store.set(secret, await readSecret(io, `secret ${secret}`));
      return {
        value: { name: secret, store: name },
        said: [`${secret} is stored in ${name}`],
        mayBeQuiet: false,
      };
    });
  },
});

const list = command("secrets list", "list the names of stored secrets", {
  examples: [["secrets list", "names only"]],
  run: (input, io) =>
    withStore(input, io, async ({ store }) => {
      const items = ((await store.list?.()) ?? []).filter((name) => NAME.test(name)).sort();
      const none = "no secret is stored; millrace secrets set NAME stores one";
      return listOf(items, items, none);
    }),
});

/** Deletes a secret. Ends with 6 where there is none. */
const remove = command("secrets remove", "delete a stored secret", {
  args: [arg("name", "ai:<name> or ext:<NAME>")],
  examples: [["secrets remove ai:openai", "for good"]],
  async run(input, io) {
    const name = readName(input);
    return withStore(input, io, async ({ store }) => {
      if (await store.delete(name))
        return { value: null, said: [`${name} is deleted`], mayBeQuiet: false };
      throw new CliError("unavailable", `there is no secret ${name}`, { problem: "not_found" });
    });
  },
});

export const commands: readonly CliCommand[] = [set, list, remove];

async function withStore(
  input: Input,
  io: CommandIo,
  work: (opened: OpenedStore) => Promise<Answer>,
): Promise<Answer> {
  const warn = warnOn(io);
  const config = await loadConfig(configOptions(input, io), io, warn);
  const opened = openCredentialStore(config.credentials);
  if (config.credentials.store === "memory") {
    warn("credentials.store is memory: what is stored ends with this command");
  }
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

function readName({ args }: Input): string {
  const [name = ""] = args;
  if (NAME.test(name)) return name;
  throw usage(
    `"${clean(name)}" is no name of a secret`,
    "ai:openai is the key of a provider, ext:WEATHER_KEY a secret of an extension",
  );
}
