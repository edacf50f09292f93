/** Which database a node speaks to: the operator keeps the addresses as secrets. */
import type { JsonObject, NodeContext } from "@millrace/contracts";
import { refused } from "./statement.ts";

/** Names of the secrets. The first is the database of a node that names none. */
export const SECRETS: readonly [string, ...string[]] = [
  "DATABASE_URL",
  "DATABASE_URL_2",
  "DATABASE_URL_3",
  "DATABASE_URL_4",
];

/** A database. */
export type Address =
  | { readonly kind: "postgres"; readonly url: URL }
  | { readonly kind: "sqlite"; readonly path: string };

/** The configuration of the adapter. */
export interface Config extends JsonObject {
  /** Names that flows use, with the secret of each. */
  readonly databases?: { readonly [name: string]: string };
}

const SSL_MODES = ["disable", "require", "verify-full"];
/** This machine, which is reached over no network. */
const HERE = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/i;

/** The address of the database that a node names. Throws `NodeError` `sql_database`, `sql_address`, which do not show it. */
export async function addressOf(name: string | undefined, ctx: NodeContext): Promise<Address> {
  const { databases = {} } = ctx.config as Config;
  const secret = name === undefined ? SECRETS[0] : known(databases, name);
  const text = (await ctx.credentials.secret(secret)).reveal().trim();
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "sqlite:" && url.host === "" && /^\/./.test(url.pathname)) {
    return { kind: "sqlite", path: decodeURIComponent(url.pathname) };
  }
  if (/^postgres(?:ql)?:$/.test(url?.protocol ?? "") && url?.hostname) {
    const mode = url.searchParams.get("sslmode");
    if (mode === null ? HERE.test(url.hostname) : SSL_MODES.includes(mode)) {
      return { kind: "postgres", url };
    }
    const modes = "verify-full, require (no check of the certificate) or disable";
    throw refused("sql_address", `${secret} needs ?sslmode=${modes}`);
  }
  const forms =
    "postgres://user:password@host:5432/name?sslmode=verify-full or sqlite:/absolute/path.db";
  throw refused("sql_address", `the secret ${secret} must be ${forms}`);
}

function known(databases: NonNullable<Config["databases"]>, name: string): string {
  const secret = Object.hasOwn(databases, name) ? databases[name] : undefined;
  if (secret !== undefined) return secret;
  const names = Object.keys(databases).join(", ") || "none";
  throw refused("sql_database", `no database is called "${name}"; "databases" names ${names}`);
}
