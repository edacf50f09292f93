/** Schemas of the settings `providers`, `mcpServers` and `ai`. */
import {
  type Check,
  flag,
  integer,
  list,
  oneOf,
  record,
  shape,
  text,
} from "@millrace/contracts/check";
import { isObject } from "@millrace/contracts/kit";

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

const url: Check = (value, pointer, report) => {
  const parsed = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  const plain = parsed !== undefined && /^https?:$/.test(parsed.protocol);
  if (!plain || parsed.username !== "" || parsed.password !== "" || parsed.hash !== "") {
    report(pointer, "must be an http: or https: URL without user, password and fragment");
  }
};

const headers: Check = (value, pointer, report) => {
  record(text("the value of a header", { pattern: /^[\t\x20-\x7e]+$/ }))(value, pointer, report);
  for (const name of isObject(value) ? Object.keys(value) : []) {
    if (KEYS.test(name)) report(`${pointer}/${name}`, "holds a key; use credential");
    else if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
      report(`${pointer}/${name}`, "is no name of a header");
    }
  }
};

const common = { credential, modelId };

/** The settings of a provider, by its kind. */
const KINDS: { readonly [kind: string]: Check } = {
  openai: shape(
    {},
    { ...common, kind: oneOf("openai"), api: oneOf("responses", "chat"), baseUrl: url },
  ),
  anthropic: shape({}, { ...common, kind: oneOf("anthropic"), baseUrl: url }),
  google: shape({}, { ...common, kind: oneOf("google"), baseUrl: url }),
  "openai-compatible": shape(
    { kind: oneOf("openai-compatible"), baseUrl: url },
    { ...common, supportsStructuredOutputs: flag, headers },
  ),
};

/** The provider of this machine's models takes nothing but the model of nodes that name none. */
const local = shape({}, { modelId });

/** Providers by id. The kind of `openai`, `anthropic` and `google` is their name; any other says its own. */
export const providers: Check = (value, pointer, report) => {
  if (!isObject(value)) return report(pointer, "must be an object");
  for (const [id, setting] of Object.entries(value)) {
    const at = `${pointer}/${id}`;
    if (!NAME.test(id) || id.length > MAX_NAME) {
      report(at, "is no name of a provider: lower-case letters, digits, - and _");
      continue;
    }
    if (id === "mock") {
      report(at, "is always there and takes no settings");
      continue;
    }
    if (id === "local" && isObject(setting) && setting["kind"] === undefined) {
      local(setting, at, report);
      continue;
    }
    const kind = isObject(setting) ? (setting["kind"] ?? id) : id;
    const check = typeof kind === "string" && Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
    if (check === undefined) {
      report(`${at}/kind`, `must be one of ${Object.keys(KINDS).join(", ")}`);
    } else check(setting, at, report);
  }
};

const tools = list(text("the name of a tool", { max: 128 }), { unique: "", max: 64 });
const shared = { trusted: tools, connectMs: integer(100, 600_000) };
const variable = text("the name of a variable", { pattern: /^[A-Za-z_][A-Za-z0-9_]*$/ });

const program = shape(
  { command: text("a program"), tools },
  {
    ...shared,
    args: list(text("an argument", { min: 0, max: 65_536 })),
    env: record(text("the value of a variable", { min: 0, max: 65_536 })),
    secrets: record(
      text("a name of the credential store such as ai:search", {
        pattern: /^ai:[a-z0-9][a-z0-9._-]{0,63}$/,
      }),
    ),
    cwd: text("an absolute folder", { pattern: /^(?:\/|[A-Za-z]:[\\/])/ }),
  },
);

const remote = shape({ url, tools }, { ...shared, credential });

/** Servers of the Model Context Protocol by name: a program (`command`) or an address (`url`). */
export const mcpServers: Check = (value, pointer, report) => {
  if (!isObject(value)) return report(pointer, "must be an object");
  for (const [name, setting] of Object.entries(value)) {
    const at = `${pointer}/${name}`;
    if (!NAME.test(name) || name.length > MAX_NAME) {
      report(at, "is no name of a server: lower-case letters, digits, - and _");
    } else if (isObject(setting) && setting["url"] !== undefined) remote(setting, at, report);
    else server(setting, at, report);
  }
};

const server: Check = (value, pointer, report) => {
  program(value, pointer, report);
  if (!isObject(value)) return;
  for (const key of ["env", "secrets"]) {
    const names = isObject(value[key]) ? Object.keys(value[key]) : [];
    for (const name of names) variable(name, `${pointer}/${key}/${name}`, report);
  }
};

const dollars: Check = (value, pointer, report) => {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) {
    report(pointer, "must be a number of US dollars for a million tokens");
  }
};

const price = shape(
  { input: dollars, output: dollars },
  { cachedInput: dollars, cacheWrite: dollars },
);

/** The key `ai`. Prices are by `provider/model id`. */
export const ai: Check = shape(
  {},
  {
    defaultProvider: text("the name of a provider", { pattern: NAME, max: MAX_NAME }),
    prices: record(price),
    circuit: shape(
      {},
      {
        failures: integer(1, 1_000),
        windowMs: integer(1_000, 3_600_000),
        coolDownMs: integer(100, 3_600_000),
      },
    ),
  },
);
