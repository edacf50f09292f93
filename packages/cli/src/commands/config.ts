/** `millrace config`: what is configured, where it comes from, and how to change it. */
import { join } from "node:path";
import { refuseClearText, serverBase } from "../api/server-url.ts";
import { arg, command, printAnswer } from "../argv/flags.ts";
import { type CliCommand, type CommandIo, flagText, type Input, isOn } from "../argv/spec.ts";
import { readSecret } from "../ask.ts";
import { type ExplainedConfig, explainConfig, keyOf, type Origin } from "../config/explain.ts";
import {
  configOptions,
  dataFolder,
  editConfig,
  PROJECT_FILE,
  readConfig,
  warnOn,
} from "../config/files.ts";
import { CONFIG_KEYS, misfit } from "../config/keys.ts";
import { strayServices } from "../config/services.ts";
import { nextTrust, storeTrust } from "../config/trust.ts";
import { isSecretKey, isSecretValue, shownValue, toValue, valueAt } from "../config/values.ts";
import { CliError, usage } from "../errors.ts";
import { clean } from "../output/text.ts";

const PLACE_FLAGS = [
  { long: "user", summary: "in the user's file" },
  { long: "project", summary: "in the project file (default where there is one)" },
];

const list = command("config list", "list every key and what stands for it", {
  examples: [["config list", "secrets are only said to be set"]],
  async run(input, io) {
    const sources = await open(input, io);
    const items = sources.keys().map((key) => {
      const [origin] = sources.origins(key);
      return {
        key,
        value: shownValue(key, sources.value(key), io),
        source: origin?.source ?? "default",
      };
    });
    return { value: { items }, data: items.map(({ key, value }) => `${key}  ${text(value)}`) };
  },
});

/** The value of one key. Ends with 6 where nothing stands for it. */
const get = command("config get", "print the value of a key", {
  args: [arg("key", "such as run.timeoutMs", "config-key")],
  examples: [["config get run.graceMs", "the value alone"]],
  async run(input, io) {
    const key = await knownKey(input.args[0] ?? "");
    const value = shownValue(key, (await open(input, io)).value(key), io);
    if (value === undefined) {
      throw new CliError("unavailable", `${key} is not set`, { problem: "not_found" });
    }
    return { value: { key, value }, data: [text(value)] };
  },
});

const set = command("config set", "write a key into the project file, else into the user's", {
  args: [
    arg("key", "such as run.timeoutMs", "config-key"),
    {
      name: "value",
      summary: "text as it is, anything else as JSON",
      required: true,
      mayBeEmpty: true,
    },
  ],
  flags: PLACE_FLAGS,
  examples: [["config set run.timeoutMs 60000 --user", "for every project"]],
  async run(input, io) {
    const [name = "", word = ""] = input.args;
    const key = await knownKey(name);
    const known = keyOf(key);
    const value = key === known?.key ? toFileValue(known, word, io) : member(word);
    if (isSecretKey(key) || isSecretValue(value)) {
      throw usage(
        `${key} would keep a secret in a file`,
        "millrace secrets set ai:<name> stores one; here it is named, such as env:OPENAI_API_KEY",
      );
    }
    const why = known !== undefined && key === known.key ? misfit(known, value) : undefined;
    if (why !== undefined) throw usage(`${key} ${why}, found "${clean(word)}"`);
    return change(input, io, key, value);
  },
});

const unset = command("config unset", "take a key out of a file", {
  args: [arg("key", "such as run.timeoutMs", "config-key")],
  flags: PLACE_FLAGS,
  examples: [["config unset run.timeoutMs --user", "the default again"]],
  async run(input, io) {
    return change(input, io, await knownKey(input.args[0] ?? "", true), undefined);
  },
});

const explain = command("config explain", "say where values come from, and what they replace", {
  args: [
    {
      name: "key",
      summary: "a key or a group of keys; without one, all",
      complete: "config-key",
    },
  ],
  examples: [["config explain run", "variable, file and line, or default"]],
  async run(input, io) {
    const sources = await open(input, io);
    const [name] = input.args;
    const wanted = name === undefined ? undefined : await knownKey(name);
    const keys = sources.keys().filter((key) => wanted === undefined || isWithin(key, wanted));
    const items = (keys.length === 0 && wanted !== undefined ? [wanted] : keys).map((key) => ({
      key,
      value: shownValue(key, sources.value(key), io),
      origins: sources
        .origins(key)
        .map((each) => ({ ...each, value: shownValue(key, each.value, io) })),
    }));
    const unheard = withoutTrust(sources, wanted);
    const file = clean(sources.project?.file.path ?? "");
    return {
      value: { items, ...(unheard.length > 0 && { untrusted: unheard }) },
      data: items.map(({ key, value, origins }) => `${key}  ${text(value)}  ${story(origins)}`),
      said:
        unheard.length === 0
          ? []
          : [
              `${file} is not trusted: ${unheard.join(", ")} of it does not count; millrace config trust`,
            ],
      mayBeQuiet: false,
    };
  },
});

const path = command("config path", "say where configuration and data are", {
  examples: [["config path", "user file, project file, data folder"]],
  async run(input, io) {
    const { userPath, project } = await open(input, io);
    const value = {
      user: userPath,
      project: project?.file.path ?? null,
      data: dataFolder(flagText(input, "home"), io),
    };
    const rows = Object.entries(value).map(([name, at]) => `${name.padEnd(7)}  ${at ?? "none"}`);
    return { value, data: rows };
  },
});

const schema = command("config schema", "print the JSON Schema of millrace.json", {
  flags: [{ long: "strict", summary: "an unknown key is an error" }],
  examples: [["config schema --strict", "for editors and checks"]],
  async run(input) {
    const { configSchema } = await import("../config/keys.ts");
    const value = configSchema(isOn(input, "strict"));
    return { value, data: [JSON.stringify(value, null, 2)] };
  },
});

const trust = command("config trust", "let the project file grant what it says, until it changes", {
  examples: [["config trust", "read millrace.json before"]],
  async run(input, io) {
    const { project, trust: stands } = await open(input, io);
    if (project === undefined || stands === undefined) {
      const stray = await strayServices(configOptions(input, io), io);
      throw usage(`there is no ${PROJECT_FILE} here`, stray ?? "run it in the folder of a project");
    }
    await checkConfig(input, io);
    const { powers, digest } = stands;
    await storeTrust(project, flagText(input, "home"), io);
    const { path } = project.file;
    const grants = powers.length === 0 ? "it grants nothing" : `it sets ${powers.join(", ")}`;
    return {
      value: { path, sha256: digest, powers },
      said: [`${clean(path)} is trusted as it is now; ${grants}`],
      mayBeQuiet: false,
    };
  },
});

/** Reads the configuration as it will count once it is trusted. Throws a usage error that names what is wrong. */
async function checkConfig(input: Input, io: CommandIo): Promise<void> {
  const trusting = { ...io, env: { ...io.env, MILLRACE_TRUST_PROJECT: "1" } };
  const { loadConfig } = await import("../config/load.ts");
  const config = await loadConfig(configOptions(input, io), trusting, warnOn(io));
  const { providers, mcpServers, ai } = config.ai;
  if (providers === undefined && mcpServers === undefined && ai === undefined) return;
  const { aiSettings } = await import("../ai/open-ai.ts");
  aiSettings(config);
}

const login = command(
  "config login",
  "store the token of a server, from stdin or a hidden prompt",
  {
    args: [arg("url", "the server; the token goes to its origin only")],
    examples: [["config login https://mill.example < token.txt", "from a file"]],
    async run(input, io) {
      const origin = serverOrigin(input.args[0] ?? "");
      const [{ loadConfig }, { openCredentialStore }] = await Promise.all([
        import("../config/load.ts"),
        import("../credentials/store.ts"),
      ]);
      const config = await loadConfig(configOptions(input, io), io, warnOn(io));
      const { store, name, close } = openCredentialStore(config.credentials);
      try {
        await store.set(`server:${origin}`, await readSecret(io, `token for ${origin}`));
      } finally {
        await close();
      }
      return {
        value: { server: origin, store: name },
        said: [`the token for ${origin} is stored in ${name}`],
        mayBeQuiet: false,
      };
    },
  },
);

export const commands: readonly CliCommand[] = [
  list,
  get,
  set,
  unset,
  explain,
  path,
  schema,
  trust,
  login,
];

function open(input: Input, io: CommandIo): Promise<ExplainedConfig> {
  return explainConfig(configOptions(input, io), io);
}

async function change(input: Input, io: CommandIo, key: string, value: unknown): Promise<number> {
  if (isOn(input, "user") && isOn(input, "project")) {
    throw usage("--user and --project cannot be used together");
  }
  const { userPath, project } = await open(input, io);
  const inProject = isOn(input, "project") || (project !== undefined && !isOn(input, "user"));
  const file = inProject ? (project?.file.path ?? join(io.cwd, PROJECT_FILE)) : userPath;
  const before = inProject ? project?.file.values : (await open(input, io)).user?.values;
  if (value === undefined && valueAt(before ?? {}, key) === undefined) {
    throw new CliError("unavailable", `${file} does not set ${key}`, { problem: "not_found" });
  }
  await editConfig(file, key, value);
  const answer = {
    value: { file, key, ...(value !== undefined && { value }) },
    said: [clean(file)],
  };
  await printAnswer(answer, io);
  const home = flagText(input, "home");
  const next = inProject ? await nextTrust(await readConfig(file), home, io) : undefined;
  if (next !== undefined && io.verbosity !== "quiet") await io.err.write(`next: ${next}\n`);
  return 0;
}

/** A folder stays as it is written: in a file it is taken from the file's own folder. */
function toFileValue(known: Parameters<typeof toValue>[0], word: string, io: CommandIo): unknown {
  return known.type === "path" ? word : toValue(known, word, io);
}

/** A member of a record: JSON where it is JSON, else text. */
function member(word: string): unknown {
  try {
    return JSON.parse(word);
  } catch {
    return word;
  }
}

/** `any`: also a key that nothing knows, so that it can be taken out again. */
async function knownKey(key: string, any = false): Promise<string> {
  const isGroup = CONFIG_KEYS.some((each) => each.key.startsWith(`${key}.`));
  if (any || isGroup || keyOf(key) !== undefined) return key;
  const { nearestName } = await import("@millrace/contracts/kit");
  const near = nearestName(
    key,
    CONFIG_KEYS.map((each) => each.key),
  );
  throw usage(
    `there is no key "${clean(key)}"`,
    near === undefined ? "millrace config list shows them" : `did you mean ${near}?`,
  );
}

function isWithin(key: string, wanted: string): boolean {
  return key === wanted || key.startsWith(`${wanted}.`);
}

/** Keys of an untrusted project file that would count if it were trusted. */
function withoutTrust(
  { trust: stands }: ExplainedConfig,
  wanted: string | undefined,
): readonly string[] {
  if (stands?.state !== "untrusted" && stands?.state !== "changed") return [];
  return stands.powers.filter((each) => wanted === undefined || isWithin(wanted, each));
}

/** `project /app/millrace.json:4 (overrides default 0)`. */
function story([origin, ...weaker]: readonly Origin[]): string {
  if (origin === undefined) return "not set";
  const rest = weaker.map((each) => `${place(each)} ${text(each.value)}`);
  return `${place(origin)}${rest.length === 0 ? "" : ` (overrides ${rest.join(", ")})`}`;
}

function place({ source, where }: Origin): string {
  return where === undefined ? source : `${source} ${clean(where)}`;
}

function text(value: unknown): string {
  return clean(
    typeof value === "string" && value !== "" ? value : (JSON.stringify(value) ?? "not set"),
  );
}

function serverOrigin(url: string): string {
  const base = serverBase(url, "config login");
  refuseClearText(base);
  return base.origin;
}
