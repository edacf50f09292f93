/** `millrace secrets`: secrets of the credential store, by name; those of flows also of a server. Values come in and never go out. */

import {
  deleteSecret,
  listSecrets,
  type NamedSecret,
  type OpenedStore,
  setSecret,
} from "@millrace/server/connections";
import { namedServer } from "../api/server-url.ts";
import { arg, command, inEnvironment, OWN_ENV_FLAG, option, serverCommand } from "../argv/flags.ts";
import {
  type Answer,
  type ArgSpec,
  type CliCommand,
  type CommandIo,
  flagText,
  type Input,
} from "../argv/spec.ts";
import { readSecret, secretFromFile } from "../ask.ts";
import { explainConfig } from "../config/explain.ts";
import { configOptions, editConfig, warnOn } from "../config/files.ts";
import { environmentIn, loadConfig } from "../config/load.ts";
import { openCredentialStore } from "../credentials/store.ts";
import { CliError, usage } from "../errors.ts";
import { tableLines } from "../output/table.ts";
import { clean } from "../output/text.ts";

/** Keys of AI providers, and secrets that extensions were granted: of this machine alone. */
const OWN = /^(?:ai:[a-z0-9][a-z0-9._-]{0,63}|ext:[A-Za-z_][A-Za-z0-9_]{0,63})$/;
/** Names that flows can read as `secrets.NAME`. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
/** Shorter ones are not found in a log, so nothing could hide them there. */
const SHORTEST = 6;
/** As `set_secret` takes it: a service that repeats a trimmed one would show it. */
const IN_HEADER = /^[!-~](?:[ -~]*[!-~])?$/;
const NAME_ARG: ArgSpec = arg("name", "NAME of secrets.NAME in flows; ai:<name>; ext:<NAME>");

const set = serverCommand("secrets set", "store a secret, from stdin, a file or a hidden prompt", {
  args: [NAME_ARG],
  flags: [OWN_ENV_FLAG, option("file", "<file>", "read it from this file")],
  examples: [
    ["secrets set shop_key < key.txt", "flows send secrets.shop_key in headers"],
    ["secrets set shop_key --env prod --file key.txt", "in one environment"],
    ["secrets set ai:openai < key.txt", "the key of a provider"],
  ],
  async run(input, io) {
    const secret = readName(input);
    const { name, environment } = secret;
    const file = flagText(input, "file");
    const what = `secret ${name}`;
    const value =
      file === undefined ? await readSecret(io, what) : await secretFromFile(file, io, what);
    if (!secret.isOfFlows) {
      return withStore(input, io, async ({ store, name: where }) => {
        await store.set(name, value);
        return { value: { name, store: where }, ...said(`${name} is stored in ${where}`) };
      });
    }
    if (value.length < SHORTEST) throw usage(`${what} has less than ${SHORTEST} characters`);
    if (!IN_HEADER.test(value)) {
      throw usage(`${what} has a character that a header cannot hold, or a blank at an end`);
    }
    return withSecrets(input, io, async (secrets) => {
      const set = await secrets.set({ name, environment, value });
      return { value: set, ...said(`secrets.${name} is set ${inEnvironment(set.environment)}`) };
    });
  },
});

const list = serverCommand("secrets list", "list the names of secrets, and when they were set", {
  examples: [["secrets list", "no value is shown"]],
  run: (input, io) =>
    withSecrets(input, io, async ({ own, list }) => {
      const items = (await own()).filter((name) => OWN.test(name)).sort();
      const flows = await list();
      const rows = flows.map((each) => [each.name, each.environment ?? "all", each.setAt]);
      const table = rows.length === 0 ? [] : await tableLines(["NAME", "ENVIRONMENT", "SET"], rows);
      const none = "no secret is stored; millrace secrets set NAME stores one";
      return {
        value: { items, ...(flows.length > 0 && { flows }) },
        data: [...items, ...table],
        said: items.length + rows.length === 0 ? [none] : [],
        mayBeQuiet: false,
      };
    }),
});

/** Deletes a secret. Ends with 6 where there is none. */
const remove = serverCommand("secrets remove", "delete a stored secret", {
  args: [NAME_ARG],
  flags: [OWN_ENV_FLAG],
  examples: [["secrets remove ai:openai", "for good"]],
  async run(input, io) {
    const secret = readName(input);
    const { name, environment } = secret;
    const from = environment === undefined ? "" : ` ${inEnvironment(environment)}`;
    const done = { value: null, ...said(`${name} is deleted${from}`) };
    const gone = (isDeleted: boolean): Answer => {
      if (isDeleted) return done;
      throw new CliError("unavailable", `there is no secret ${name}`, { problem: "not_found" });
    };
    return secret.isOfFlows
      ? withSecrets(input, io, async (secrets) => gone(await secrets.delete({ name, environment })))
      : withStore(input, io, async ({ store }) => gone(await store.delete(name)));
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
    const options = configOptions({ args: [], ...input }, io);
    const { credentials, sources } = await loadConfig(options, io, warnOn(io));
    if (credentials.store === store) throw usage(`credentials.store is ${store} already`);
    if (credentials.store === "memory") throw usage("the store memory keeps nothing to move");
    const [origin] = (await explainConfig(options, io)).origins("credentials.store");
    if (origin?.source === "variable" || origin?.source === "project") {
      const said = `${origin.where} sets credentials.store, which would stay what it is`;
      throw usage(said, "the move is written into the user's file; take the other away first");
    }
    const [from, to] = [
      openCredentialStore(credentials),
      openCredentialStore({ ...credentials, store }),
    ];
    try {
      const copied = new Map<string, string>();
      const copy = async (): Promise<void> => {
        for (const name of (await from.store.list?.()) ?? []) {
          const value = await from.store.get(name);
          if (!value || value === copied.get(name)) continue;
          await to.store.set(name, value);
          copied.set(name, value);
        }
      };
      await copy();
      await editConfig(sources.userPath, "credentials.store", store);
      await copy(); // what another process, such as a server that renews a token, wrote meanwhile
      for (const name of copied.keys()) await from.store.delete(name);
      const where = store === "file" ? `; the key of the file: ${credentials.keyPlace}` : "";
      const moved = `${copied.size} moved from ${from.name} to ${to.name}${where}`;
      const said = [moved, "restart a running millrace serve: it still has the old store"];
      return { value: { moved: copied.size, store }, said, mayBeQuiet: false };
    } finally {
      await Promise.all([from.close(), to.close()]);
    }
  },
});

export const commands: readonly CliCommand[] = [set, list, remove, move];

function said(line: string): Pick<Answer, "said" | "mayBeQuiet"> {
  return { said: [line], mayBeQuiet: false };
}

/** The secrets of flows, here or on a server. */
interface Secrets {
  /** Names of those that are no flow's; of a server none is known. */
  own(): Promise<readonly string[]>;
  list(): Promise<readonly NamedSecret[]>;
  set(secret: NameOf & { readonly value: string }): Promise<NamedSecret>;
  delete(secret: NameOf): Promise<boolean>;
}

interface NameOf {
  readonly name: string;
  readonly environment: string | undefined;
}

async function withSecrets(
  input: Input,
  io: CommandIo,
  work: (secrets: Secrets) => Promise<Answer>,
): Promise<Answer> {
  const config = await loadConfig(configOptions(input, io), io, () => {});
  if (namedServer(input, config) === undefined) {
    return withStore(input, io, ({ store }) =>
      work({
        own: async () => (await store.list?.()) ?? [],
        list: () => listSecrets(store),
        set: (secret) => setSecret(store, secret, io.now()),
        delete: (secret) => deleteSecret(store, secret),
      }),
    );
  }
  const { withApi } = await import("../api/command.ts");
  return withApi(input, io, true, (api) =>
    work({
      own: async () => [],
      list: async () => (await api.invoke("list_secrets", {})).items,
      set: ({ environment, ...rest }) =>
        api.invoke("set_secret", { ...rest, ...(environment && { environment }) }),
      delete: async ({ environment, ...rest }) => {
        await api.invoke("delete_secret", { ...rest, ...(environment && { environment }) });
        return true;
      },
    }),
  );
}

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

function readName(input: Input): NameOf & { readonly isOfFlows: boolean } {
  const [name = ""] = input.args;
  const environment = environmentIn(flagText(input, "env"), "--env");
  if (NAME.test(name)) return { name, environment, isOfFlows: true };
  if (!OWN.test(name)) {
    throw usage(
      `"${clean(name)}" is no name of a secret`,
      "shop_key is for flows, ai:openai the key of a provider, ext:WEATHER_KEY a secret of an extension",
    );
  }
  if (environment !== undefined) throw usage(`${name} is the same in all environments`);
  return { name, environment, isOfFlows: false };
}
