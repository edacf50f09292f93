/** Schemas of the settings `providers`, `mcpServers` and `ai`. */
import { isObject } from "@millrace/contracts/kit";
import {
  also,
  flag,
  integer,
  list,
  must,
  object,
  oneOf,
  optional,
  optionals,
  type Problem,
  problemsOf,
  record,
  rule,
  type Shape,
  text,
} from "@millrace/contracts/shape";

/** Names of providers and servers; they are part of credential accounts and of tool names. */
const NAME = /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/;
const MAX_NAME = 64;

const credential = text("a reference such as openai, service:crm or env:OPENAI_API_KEY", {
  pattern: /^(?:env:[A-Za-z_][A-Za-z0-9_]*|(?:service:)?[a-z0-9][a-z0-9._-]{0,63})$/,
  max: 256,
});

const modelId = text("the id of a model", { pattern: /^[^\p{Cc}]+$/u, max: 200 });

/** Headers that would carry a key past the credential store. */
const KEYS = /^(?:authorization|proxy-authorization|cookie|x-api-key|api-key|x-goog-api-key)$/i;

const url = must<string>((value) => {
  const parsed = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  const plain = parsed !== undefined && /^https?:$/.test(parsed.protocol);
  return plain && parsed.username === "" && parsed.password === "" && parsed.hash === "";
}, "an http: or https: URL without user, password and fragment");

const headers = also(
  record(text("the value of a header", { pattern: /^[\t\x20-\x7e]+$/ })),
  (value) =>
    Object.keys(isObject(value) ? value : {}).flatMap((name) => {
      if (KEYS.test(name)) return [{ pointer: `/${name}`, message: "holds a key; use credential" }];
      return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)
        ? []
        : [{ pointer: `/${name}`, message: "is no name of a header" }];
    }),
);

const common = optionals({ credential, modelId });

/** The settings of a provider, by its kind. */
const KINDS: { readonly [kind: string]: Shape } = {
  openai: object({
    ...common,
    ...optionals({ kind: oneOf("openai"), api: oneOf("responses", "chat"), baseUrl: url }),
  }),
  anthropic: object({ ...common, ...optionals({ kind: oneOf("anthropic"), baseUrl: url }) }),
  google: object({ ...common, ...optionals({ kind: oneOf("google"), baseUrl: url }) }),
  "openai-compatible": object({
    kind: oneOf("openai-compatible"),
    baseUrl: url,
    ...common,
    ...optionals({ supportsStructuredOutputs: flag, headers }),
  }),
};

/** The provider of this machine's models takes nothing but the model of nodes that name none. */
const local = object({ modelId: common.modelId });

/** Settings by a name of ours, each of the shape that `shapeOf` chooses, or with the problem that it finds. */
function named(what: string, shapeOf: (name: string, setting: unknown) => Shape | Problem): Shape {
  return rule((value) => {
    if (!isObject(value)) return "must be an object";
    return Object.entries(value).flatMap(([name, setting]) => {
      const isName = NAME.test(name) && name.length <= MAX_NAME;
      const found = isName
        ? shapeOf(name, setting)
        : { pointer: "", message: `is no name of a ${what}: lower-case letters, digits, - and _` };
      const problems = "message" in found ? [found] : problemsOf(setting, found);
      return problems.map(({ pointer, message }) => ({ pointer: `/${name}${pointer}`, message }));
    });
  });
}

/** Providers by id. The kind of `openai`, `anthropic` and `google` is their name; any other says its own. */
export const providers = named("provider", (id, setting) => {
  if (id === "mock") return { pointer: "", message: "is always there and takes no settings" };
  if (id === "local" && isObject(setting) && setting["kind"] === undefined) return local;
  const kind = isObject(setting) ? (setting["kind"] ?? id) : id;
  const shape = typeof kind === "string" && Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  const message = `must be one of ${Object.keys(KINDS).join(", ")}`;
  return shape ?? { pointer: "/kind", message };
});

const tools = list(text("the name of a tool", { max: 128 }), { unique: "", max: 64 });
const shared = optionals({
  /** Those of the tools that need no confirmation. */
  trusted: tools,
  /** Default 10,000. */
  connectMs: integer(100, 600_000),
});
const variable = text("the name of a variable", { pattern: /^[A-Za-z_][A-Za-z0-9_]*$/ });

export const program = object({
  command: text("a program"),
  /** Names of tools that flows may use; no others are shown or called. */
  tools,
  ...shared,
  args: optional(list(text("an argument", { min: 0, max: 65_536 }))),
  /** Variables beside the minimal ones. */
  env: optional(record(text("the value of a variable", { min: 0, max: 65_536 }))),
  /** Variables whose values come from the credential store: `{"API_KEY": "ai:search"}`. */
  secrets: optional(
    record(
      text("a name of the credential store such as ai:search", {
        pattern: /^ai:[a-z0-9][a-z0-9._-]{0,63}$/,
      }),
    ),
  ),
  /** Default: an empty folder of the run. */
  cwd: optional(text("an absolute folder", { pattern: /^(?:\/|[A-Za-z]:[\\/])/ })),
});

export const remote = object({
  url,
  tools,
  ...shared,
  /** As of a provider; sent as bearer token. */
  credential: optional(credential),
});

const server = also(program, (value) =>
  ["env", "secrets"].flatMap((key) => {
    const variables = isObject(value) ? value[key] : undefined;
    return Object.keys(isObject(variables) ? variables : {}).flatMap((name) =>
      problemsOf(name, variable).map(({ message }) => ({ pointer: `/${key}/${name}`, message })),
    );
  }),
);

/** Servers of the Model Context Protocol by name: a program (`command`) or an address (`url`). */
export const mcpServers = named("server", (_, setting) =>
  isObject(setting) && setting["url"] !== undefined ? remote : server,
);

const dollars = must<number>(
  (value) => typeof value === "number" && Number.isFinite(value) && value >= 0,
  "a number of US dollars for a million tokens",
);

const price = object({
  input: dollars,
  output: dollars,
  cachedInput: optional(dollars),
  cacheWrite: optional(dollars),
});

/** The key `ai`. Prices are by `provider/model id`. */
export const ai = object(
  optionals({
    /** Provider of nodes that name none. */
    defaultProvider: text("the name of a provider", { pattern: NAME, max: MAX_NAME }),
    /** By `provider/model id`, before the built-in ones. */
    prices: record(price),
    circuit: object(
      optionals({
        failures: integer(1, 1_000),
        windowMs: integer(1_000, 3_600_000),
        coolDownMs: integer(100, 3_600_000),
      }),
    ),
  }),
);
