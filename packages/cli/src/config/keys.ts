/** The keys of `millrace.json` as data: types, defaults, which of them grant power, and the variables that replace them. */

import type { JsonSchema } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";

/** How a value is written: `path`, `text` as it is, the others as JSON. A `record` has members of its own. */
export type ConfigType = "text" | "path" | "number" | "switch" | "list" | "record";

/** One key, its parts joined with dots. */
export interface ConfigKey {
  readonly key: string;
  readonly type: ConfigType;
  readonly summary: string;
  readonly default?: boolean | number | string;
  readonly choices?: readonly string[];
  /** Least and most that a number may be. */
  readonly min?: number;
  readonly max?: number;
  /** JSON Schema of the items of a list. */
  readonly items?: JsonSchema;
}

/** A host with or without a port, or a range of addresses. */
const EGRESS: { readonly items: JsonSchema } = {
  items: {
    anyOf: [
      {
        type: "object",
        required: ["host"],
        additionalProperties: false,
        properties: {
          host: { type: "string", description: "Such as api.example, *.example or 127.0.0.1" },
          port: { type: "integer", minimum: 1, maximum: 65_535 },
        },
      },
      {
        type: "object",
        required: ["cidr"],
        additionalProperties: false,
        properties: { cidr: { type: "string", description: "Such as 10.0.0.0/8" } },
      },
    ],
  },
};
const EXTENSION: JsonSchema = {
  anyOf: [
    { type: "string" },
    {
      type: "object",
      required: ["package"],
      properties: { package: { type: "string" }, config: { type: "object" } },
    },
  ],
};

const ADDRESSES: { readonly items: JsonSchema } = { items: { type: "string" } };
const STORES = ["os", "file", "memory"];
const LEVELS = ["debug", "info", "warn", "error"];
const FORMATS = ["json", "pretty"];
const MAX_PORT = 65_535;
const MAX_INTEGER = Number.MAX_SAFE_INTEGER;

/** Every key, in the order of documentation: its type, default and meaning. */
const ROWS: readonly (readonly [
  key: string,
  type: ConfigType,
  value: ConfigKey["default"],
  summary: string,
  more?: Partial<ConfigKey>,
])[] = [
  ["flows", "path", "flows", "folder of the project's flows"],
  ["history", "switch", false, "keep every run, as --save does"],
  [
    "environment",
    "text",
    undefined,
    "whose variables and secrets flows read, such as prod (default those of all)",
  ],
  ["run.timeoutMs", "number", 0, "how long a run may take; 0 is no limit"],
  ["run.graceMs", "number", 10_000, "how long steps may take to stop after a cancel"],
  ["ai", "record", undefined, "settings of ai nodes: default model, prices, limits"],
  [
    "providers",
    "record",
    undefined,
    "providers of models by name; credential is a reference such as env:OPENAI_API_KEY",
  ],
  ["mcpServers", "record", undefined, "servers of tools by name"],
  ["models", "record", undefined, "managed local models"],
  [
    "extensions",
    "list",
    undefined,
    "packages with node types, locked by digest",
    { items: EXTENSION },
  ],
  ["hubs", "list", undefined, "sources of templates, extensions and models"],
  ["egress.allow", "list", undefined, "hosts that flows may reach beside public ones", EGRESS],
  ["egress.deny", "list", undefined, "hosts that flows may not reach", EGRESS],
  ["egress.maxRedirects", "number", 5, "redirects that are followed"],
  ["egress.connectMs", "number", 10_000, "how long a connection may take to open"],
  ["egress.idleMs", "number", 30_000, "longest silence of an answer"],
  ["egress.totalMs", "number", 300_000, "how long one request may take"],
  ["egress.maxResponseBytes", "number", 67_108_864, "largest answer, unpacked"],
  ["egress.maxRequestBytes", "number", 10_485_760, "largest body of a request"],
  ["egress.perHost", "number", 16, "sockets at once to one host"],
  ["files.root", "path", ".", "folder that flows may read and write"],
  ["shell.programs", "record", undefined, "programs that flows may start: name to path"],
  [
    "shell.env",
    "list",
    undefined,
    "variables that these programs get",
    { items: { type: "string" } },
  ],
  ["shell.cwdRoot", "path", undefined, "folder that they run in (default files.root)"],
  ["server.url", "text", "", "server that commands ask instead of this installation"],
  ["serve.host", "text", "127.0.0.1", "address that serve listens on"],
  [
    "serve.port",
    "number",
    6455,
    "port that serve listens on; 0 for any free one",
    { max: MAX_PORT },
  ],
  [
    "serve.executor",
    "text",
    "local",
    "what drives runs: this server alone, or any server of a store that PostgreSQL or Restate chooses",
    { choices: ["local", "postgres", "restate"] },
  ],
  ["serve.limits", "record", undefined, "limits of the server, by name"],
  ["serve.studio", "switch", true, "whether serve shows the web page, at /studio"],
  ["serve.mcp", "switch", true, "whether serve offers flows as tools to agents, at /mcp"],
  ["serve.logLevel", "text", "info", "least level of its log", { choices: LEVELS }],
  [
    "serve.logFormat",
    "text",
    undefined,
    "how its log is written (default pretty on a terminal, else json)",
    { choices: FORMATS },
  ],
  ["credentials.store", "text", "os", "where credentials are kept", { choices: STORES }],
  [
    "credentials.key",
    "text",
    undefined,
    "key of the encrypted file: env:NAME, file:PATH or command:WORDS (default one that is made)",
  ],
  [
    "store.busyTimeoutMs",
    "number",
    5000,
    "how long a write to the data folder waits for other processes that write to it",
  ],
  [
    "store.url",
    "text",
    undefined,
    "PostgreSQL that servers share: env:NAME, file:PATH or command:WORDS gives its address",
  ],
  [
    "store.key",
    "text",
    undefined,
    "32 bytes that seal private values there: env:NAME, file:PATH or command:WORDS gives them",
  ],
  ["restate.ingress", "list", undefined, "addresses where Restate takes calls", ADDRESSES],
  ["restate.admin", "list", undefined, "addresses where servers register with Restate", ADDRESSES],
  ["restate.listen", "text", undefined, "host and port where serve takes the calls of Restate"],
  [
    "restate.endpoint",
    "text",
    undefined,
    "where Restate reaches the servers (default http:// and restate.listen)",
  ],
  ["restate.identityKeys", "list", undefined, "request identity keys of Restate", ADDRESSES],
];

/** Every key of the configuration, in the order of its reference page. */
export const CONFIG_KEYS: readonly ConfigKey[] = ROWS.map(([key, type, value, summary, more]) => ({
  key,
  type,
  ...(value !== undefined && { default: value }),
  ...more,
  summary,
}));

/** First parts that decide what a flow may reach; from a project file they count only when it is trusted. */
export const POWER_KEYS: readonly string[] = [
  ...["extensions", "shell", "files", "egress", "providers", "mcpServers"],
  ...["models", "hubs", "server", "serve", "environment", "credentials", "store", "restate"],
];

/** Names that may stand at the top of a file. */
export function topNames(): Set<string> {
  return new Set(["$schema", ...CONFIG_KEYS.map(({ key }) => key.replace(/\..*/, ""))]);
}

/** Variables with names of their own. */
const SHORT: { readonly [key: string]: string } = {
  "serve.port": "MILLRACE_PORT",
  environment: "MILLRACE_ENV",
};

/** Keys whose value is a reference to a secret: the variable of that name would be the secret itself, which nothing may show. */
const WITHOUT_VARIABLE: ReadonlySet<string> = new Set([
  "store.url",
  "store.key",
  "credentials.key",
]);

/** Variables that replace a key, the stronger first: `run.timeoutMs` is MILLRACE_RUN_TIMEOUT_MS. */
export function variablesOf(key: string): readonly string[] {
  if (WITHOUT_VARIABLE.has(key)) return [];
  // The server knows the variable of a limit as that of any of its options.
  const name = `MILLRACE_${key
    .replace("serve.limits.", "serve.")
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .replaceAll(".", "_")
    .toUpperCase()}`;
  const short = SHORT[key];
  return short === undefined ? [name] : [name, short];
}

/** Why a value does not fit its key; undefined when it does. Members of records are checked by their readers. */
export function misfit(
  { type, choices, min = 0, max = MAX_INTEGER }: ConfigKey,
  value: unknown,
): string | undefined {
  switch (type) {
    case "text":
    case "path":
      if (typeof value !== "string") return "takes text";
      return choices === undefined || choices.includes(value)
        ? undefined
        : `takes ${choices.join(", ")}`;
    case "number":
      return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
        ? undefined
        : `takes a whole number${min === 0 ? "" : ` from ${min}`}${max === MAX_INTEGER ? "" : ` up to ${max}`}`;
    case "switch":
      return typeof value === "boolean" ? undefined : "takes true or false";
    case "list":
      return Array.isArray(value) ? undefined : "takes a list";
    case "record":
      return isObject(value) ? undefined : "takes an object";
  }
}

type Schema = { readonly [key: string]: unknown };
/** An object of the schema while its members are added. */
type Group = { readonly properties: Record<string, unknown> };

const TYPES = {
  text: { type: "string" },
  path: { type: "string" },
  number: { type: "integer", minimum: 0 },
  switch: { type: "boolean" },
  list: { type: "array" },
  record: { type: "object" },
} as const;

/** `keys`: of `CONFIG_KEYS` and of limits. `strict`: an unknown key is an error, not only without effect. */
export function configSchema(keys: readonly ConfigKey[], strict: boolean): Schema {
  const root: Group = { properties: { $schema: { type: "string" } } };
  for (const each of keys) {
    const parts = each.key.split(".");
    let group = root;
    for (const part of parts.slice(0, -1)) {
      group.properties[part] ??= {
        type: "object",
        ...(strict && { additionalProperties: false }),
        properties: {},
      };
      group = group.properties[part] as Group;
    }
    group.properties[parts.at(-1) ?? ""] = schemaOf(each, parts[0] ?? "");
  }
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Configuration of Millrace",
    type: "object",
    ...(strict && { additionalProperties: false }),
    ...root,
  };
}

function schemaOf(each: ConfigKey, group: string): Schema {
  const power = POWER_KEYS.includes(group)
    ? " In a project file it counts only when that is trusted."
    : "";
  const summary = each.summary.charAt(0).toUpperCase() + each.summary.slice(1);
  const [variable] = variablesOf(each.key);
  return {
    description: `${summary}.${variable === undefined ? "" : ` Variable: ${variable}.`}${power}`,
    ...TYPES[each.type],
    ...(each.items && { items: each.items }),
    ...(each.choices && { enum: each.choices }),
    ...(each.min !== undefined && { minimum: each.min }),
    ...(each.max !== undefined && { maximum: each.max }),
    ...(each.default !== undefined && { default: each.default }),
  };
}
