/** The keys of `millrace.json` as data: types, defaults, which of them grant power, and the variables that replace them. */

import type { JsonSchema } from "@millrace/contracts";

/** How a value is written: `path`, `text` as it is, the others as JSON. A `record` has members of its own. */
export type ConfigType = "text" | "path" | "number" | "switch" | "list" | "record";

/** One key, its parts joined with dots. */
export interface ConfigKey {
  readonly key: string;
  readonly type: ConfigType;
  readonly summary: string;
  readonly default?: boolean | number | string;
  readonly choices?: readonly string[];
  /** Most that a number may be. */
  readonly max?: number;
  /** JSON Schema of the items of a list. */
  readonly items?: JsonSchema;
}

/** A host with or without a port, or a range of addresses. */
const EGRESS_RULE: JsonSchema = {
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

const MAX_PORT = 65_535;
const MAX_INTEGER = Number.MAX_SAFE_INTEGER;

/** Every key, in the order of documentation. */
export const CONFIG_KEYS: readonly ConfigKey[] = [
  { key: "flows", type: "path", default: "flows", summary: "folder of the project's flows" },
  { key: "history", type: "switch", default: false, summary: "keep every run, as --save does" },
  {
    key: "run.timeoutMs",
    type: "number",
    default: 0,
    summary: "how long a run may take; 0 is no limit",
  },
  {
    key: "run.graceMs",
    type: "number",
    default: 10_000,
    summary: "how long steps may take to stop after a cancel",
  },
  { key: "ai", type: "record", summary: "settings of ai nodes: default model, prices, limits" },
  {
    key: "providers",
    type: "record",
    summary: "providers of models by name; credential is a reference such as env:OPENAI_API_KEY",
  },
  { key: "mcpServers", type: "record", summary: "servers of tools by name" },
  { key: "models", type: "record", summary: "managed local models" },
  {
    key: "extensions",
    type: "list",
    items: EXTENSION,
    summary: "packages with node types, locked by digest",
  },
  { key: "hubs", type: "list", summary: "sources of templates, extensions and models" },
  {
    key: "egress.allow",
    type: "list",
    items: EGRESS_RULE,
    summary: "hosts that flows may reach beside public ones",
  },
  {
    key: "egress.deny",
    type: "list",
    items: EGRESS_RULE,
    summary: "hosts that flows may not reach",
  },
  {
    key: "egress.maxRedirects",
    type: "number",
    default: 5,
    summary: "redirects that are followed",
  },
  {
    key: "egress.connectMs",
    type: "number",
    default: 10_000,
    summary: "how long a connection may take to open",
  },
  {
    key: "egress.idleMs",
    type: "number",
    default: 30_000,
    summary: "longest silence of an answer",
  },
  {
    key: "egress.totalMs",
    type: "number",
    default: 300_000,
    summary: "how long one request may take",
  },
  {
    key: "egress.maxResponseBytes",
    type: "number",
    default: 67_108_864,
    summary: "largest answer, unpacked",
  },
  {
    key: "egress.maxRequestBytes",
    type: "number",
    default: 10_485_760,
    summary: "largest body of a request",
  },
  { key: "egress.perHost", type: "number", default: 16, summary: "sockets at once to one host" },
  {
    key: "files.root",
    type: "path",
    default: ".",
    summary: "folder that flows may read and write",
  },
  { key: "shell.programs", type: "record", summary: "programs that flows may start: name to path" },
  {
    key: "shell.env",
    type: "list",
    items: { type: "string" },
    summary: "variables that these programs get",
  },
  { key: "shell.cwdRoot", type: "path", summary: "folder that they run in (default files.root)" },
  {
    key: "server.url",
    type: "text",
    default: "",
    summary: "server that commands ask instead of this installation",
  },
  {
    key: "serve.host",
    type: "text",
    default: "127.0.0.1",
    summary: "address that serve listens on",
  },
  {
    key: "serve.port",
    type: "number",
    default: 6455,
    max: MAX_PORT,
    summary: "port that serve listens on; 0 for any free one",
  },
  {
    key: "credentials.store",
    type: "text",
    default: "os",
    choices: ["os", "file", "memory"],
    summary: "where credentials are kept",
  },
];

/** First parts that decide what a flow may reach; from a project file they count only when it is trusted. */
export const POWER_KEYS: readonly string[] = [
  "extensions",
  "shell",
  "files",
  "egress",
  "providers",
  "mcpServers",
  "models",
  "hubs",
  "server",
  "serve",
  "credentials",
];

/** Names that may stand at the top of a file. */
export function topNames(): Set<string> {
  return new Set(["$schema", ...CONFIG_KEYS.map(({ key }) => key.replace(/\..*/, ""))]);
}

/** Variables with names of their own. */
const SHORT: { readonly [key: string]: string } = { "serve.port": "MILLRACE_PORT" };

/** Variables that replace a key, the stronger first: `run.timeoutMs` is MILLRACE_RUN_TIMEOUT_MS. */
export function variablesOf(key: string): readonly string[] {
  const name = `MILLRACE_${key
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .replaceAll(".", "_")
    .toUpperCase()}`;
  const short = SHORT[key];
  return short === undefined ? [name] : [name, short];
}

/** Why a value does not fit its key; undefined when it does. Members of records are checked by whoever uses them. */
export function misfit(
  { type, choices, max = MAX_INTEGER }: ConfigKey,
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
      return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max
        ? undefined
        : `takes a whole number${max === MAX_INTEGER ? "" : ` up to ${max}`}`;
    case "switch":
      return typeof value === "boolean" ? undefined : "takes true or false";
    case "list":
      return Array.isArray(value) ? undefined : "takes a list";
    case "record":
      return isRecord(value) ? undefined : "takes an object";
  }
}

/** Whether this is an object with members. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
