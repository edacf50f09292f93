import { refuseClearText, serverBase } from "../../api/server-url.ts";
import { arg, command } from "../../argv/flags.ts";
import { type CliCommand, type CommandIo, flagText, type Input, isOn } from "../../argv/spec.ts";
import { readSecret } from "../../ask.ts";
import { type ExplainedConfig, explainConfig, type Origin } from "../../config/explain.ts";
import { configOptions, dataFolder, PROJECT_FILE, warnOn } from "../../config/files.ts";
import { strayServices } from "../../config/services.ts";
import { storeTrust } from "../../config/trust.ts";
import { shownValue } from "../../config/values.ts";
import { CliError, usage } from "../../errors.ts";
import { clean } from "../../output/text.ts";
import { knownKey, set, unset } from "./change.ts";

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
    const { configSchema } = await import("../../config/keys.ts");
    const { ALL_KEYS } = await import("../../config/limit-keys.ts");
    const value = configSchema(ALL_KEYS, isOn(input, "strict"));
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
  const [{ loadConfig }, { describedServices }] = await Promise.all([
    import("../../config/load.ts"),
    import("../../config/sources.ts"),
  ]);
  const config = await loadConfig(configOptions(input, io), trusting, warnOn(io));
  await describedServices(config.sources);
  const { providers, mcpServers, ai } = config.ai;
  if (providers === undefined && mcpServers === undefined && ai === undefined) return;
  const { aiSettings } = await import("../../ai/open-ai.ts");
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
        import("../../config/load.ts"),
        import("../../credentials/store.ts"),
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
