/** Options that come from environment variables and from a token file. */
import { readFile, stat } from "node:fs/promises";
import { secretVariable } from "@millrace/providers/secret-variables";
import type { CredentialsOptions } from "../connections/index.ts";
import { badOption } from "../errors.ts";
import { modelsFrom } from "../models/open-models.ts";
import { wantsTraces } from "../observe/traces/open-traces.ts";
import { LIMITS } from "./limits.ts";
import type { ServerOptions } from "./options.ts";
import type { Environment } from "./read-options.ts";

/** Further sources of options. */
export interface OptionSources {
  /** Variables to read, usually `process.env`. Default: none, so that an embedding program decides. */
  readonly env?: Environment;
  /** File of tokens, one a line: `token` or `id:role:token`. Empty lines and lines that begin with `#` do not count. */
  readonly tokenFile?: string;
}

/** The rights of others to read or write a file. */
const OF_OTHERS = 0o066;

const yes = (text: string): boolean | string =>
  text === "1" || text === "true" ? true : text !== "0" && text !== "false" ? text : false;
/** Undefined for where Kubernetes says that a Service `millrace` is: `MILLRACE_PORT=tcp://10.0.0.1:80`. */
const portOf = (text: string): number | undefined =>
  /^(?:tcp|udp|sctp):\/\//.test(text) ? undefined : Number(text);
const list = (text: string): readonly string[] => text.split(",").map((item) => item.trim());

/** Option, variable, and how its text is read; a text that does not fit fails as the option would. */
const VARIABLES: readonly (readonly [string, string, (text: string) => unknown])[] = [
  ["host", "MILLRACE_SERVE_HOST", String],
  ["port", "MILLRACE_PORT", portOf],
  ["allowOpen", "MILLRACE_SERVE_ALLOW_OPEN", yes],
  ["webhooks", "MILLRACE_SERVE_WEBHOOKS", yes],
  ["mcp", "MILLRACE_SERVE_MCP", yes],
  ["allowedHosts", "MILLRACE_SERVE_ALLOWED_HOSTS", list],
  ["allowedOrigins", "MILLRACE_SERVE_ALLOWED_ORIGINS", list],
  ["trustProxy", "MILLRACE_SERVE_TRUST_PROXY", list],
  ["publicUrl", "MILLRACE_SERVE_PUBLIC_URL", String],
  ["store", "MILLRACE_HOME", String],
  ["busyTimeoutMs", "MILLRACE_STORE_BUSY_TIMEOUT_MS", Number],
  ["environment", "MILLRACE_ENV", String],
  ["logLevel", "MILLRACE_SERVE_LOG_LEVEL", String],
  ["logFormat", "MILLRACE_SERVE_LOG_FORMAT", String],
  ...Object.keys(LIMITS).map(
    (name) =>
      [name, `MILLRACE_SERVE_${name.replace(/[A-Z]/g, "_$&").toUpperCase()}`, Number] as const,
  ),
];

/**
 * Adds what the environment and the token file say to `options`, which win. Throws `ConfigError` with code
 * `option_invalid` when the token file or the file of a secret variable cannot be read, or holds no token, or MILLRACE_TOKEN is set
 * but blank.
 */
export async function gatherOptions<T extends ServerOptions & OptionSources>(
  options: T,
): Promise<Omit<T, keyof OptionSources> & ServerOptions> {
  const { env = {}, tokenFile: _, ...explicit } = options;
  const { credentials = {}, ai = {}, models = {} } = explicit;
  const token = secretIn(env, "MILLRACE_TOKEN");
  const tokenFile = tokenFileOf(options);
  const fromEnv: Record<string, unknown> = {};
  for (const [option, variable, parse] of VARIABLES) {
    const text = env[variable];
    if (text !== undefined && text !== "") fromEnv[option] = parse(text);
  }
  const tokens: string[] = [];
  if (token !== undefined) {
    if (token.trim() === "") throw badOption("MILLRACE_TOKEN is set but empty");
    tokens.push(token);
  }
  if (tokenFile !== undefined) tokens.push(...(await readTokenFile(tokenFile)));
  const given = tokens.length === 0 ? {} : { tokens };
  const chosen = Object.entries(explicit).filter(([, value]) => value !== undefined);
  const kept =
    typeof credentials === "object" ? { ...credentialsFrom(env), ...credentials } : credentials;
  return {
    ...fromEnv,
    ...given,
    ...(wantsTraces(env) && { traces: env }),
    ...Object.fromEntries(chosen),
    credentials: kept,
    ai: typeof ai === "object" ? { env, ...ai } : ai,
    models: typeof models === "object" ? { ...modelsFrom(env), ...models } : models,
  } as unknown as Omit<T, keyof OptionSources> & ServerOptions;
}

function tokenFileOf({ tokenFile, env }: OptionSources): string | undefined {
  return tokenFile ?? env?.["MILLRACE_SERVE_TOKEN_FILE"];
}

/**
 * The problem of a token file that others may read or change; undefined where there is none. As with the keys of ssh, a file of another user does not
 * count: containers get their secrets so. Windows has no such modes.
 */
export async function tokenFileProblem(sources: OptionSources): Promise<string | undefined> {
  const file = tokenFileOf(sources);
  if (file === undefined || process.getuid === undefined) return undefined;
  const found = await stat(file).catch(() => undefined); // it was read before, and may be gone since
  if (found?.uid !== process.getuid() || (found.mode & OF_OTHERS) === 0) return undefined;
  return `other users of this machine can read or change the tokens in ${file}; run chmod 600 ${file}`;
}

/** The option `credentials` from variables; its values are checked when the option is read. */
function credentialsFrom(env: Environment): CredentialsOptions {
  const { MILLRACE_CREDENTIALS_STORE: store, MILLRACE_HOME } = env;
  const key = secretIn(env, "MILLRACE_CREDENTIAL_KEY");
  return {
    ...(store && { store: store as "os" }),
    ...(MILLRACE_HOME && { dir: MILLRACE_HOME }),
    ...(key && { key: { bytes: Buffer.from(key, "base64") } }),
  };
}

function secretIn(env: Environment, name: string): string | undefined {
  try {
    return secretVariable(env, name);
  } catch (cause) {
    throw badOption((cause as Error).message, cause);
  }
}

async function readTokenFile(path: string): Promise<readonly string[]> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw badOption(`option "tokenFile" cannot be read (${code})`, cause);
  }
  const tokens = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (tokens.length === 0) throw badOption('option "tokenFile" names a file without a token');
  return tokens;
}
