/** `millrace secrets`: plain secrets of the credential store, by name. Values come in and never go out. */

import type { OpenedStore } from "@millrace/server/connections";
import { arg, command, listOf } from "../argv/flags.ts";
import type { Answer, CliCommand, CommandIo, Input } from "../argv/spec.ts";
import { readSecret } from "../ask.ts";
import { configOptions, editConfig, warnOn } from "../config/files.ts";
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

const STORES = ["os", "file"] as const;

/** Moves every entry to the other store, and says so in the user's file. An entry is deleted when all are in the new place. */
const move = command("secrets move", "move all credentials to another store of this machine", {
  args: [arg("store", "os, the keyring; or file, an encrypted file")],
  examples: [["secrets move file", "as on a server, which has no keyring"]],
  async run({ args: [word], ...input }, io) {
    const store = STORES.find((each) => each === word);
    if (store === undefined) throw usage(`secrets move takes ${STORES.join(" or ")}`);
    const { credentials, sources } = await loadConfig(
      configOptions({ args: [], ...input }, io),
      io,
      warnOn(io),
    );
    if (credentials.store === store) throw usage(`credentials.store is ${store} already`);
    const [from, to] = [
      openCredentialStore(credentials),
      openCredentialStore({ ...credentials, store }),
    ];
    try {
      const names = (await from.store.list?.()) ?? [];
      for (const name of names) {
        const value = await from.store.get(name);
        if (value) await to.store.set(name, value); // else somebody has deleted it since
      }
      await editConfig(sources.userPath, "credentials.store", store);
      for (const name of names) await from.store.delete(name);
      const where = store === "file" ? `; the key of the file: ${credentials.keyPlace}` : "";
      const said = [`${names.length} moved from ${from.name} to ${to.name}${where}`];
      return { value: { moved: names.length, store }, said, mayBeQuiet: false };
    } finally {
      await Promise.all([from.close(), to.close()]);
    }
  },
});

export const commands: readonly CliCommand[] = [set, list, remove, move];

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
