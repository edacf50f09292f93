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

/** How a connection is sealed; `require` checks no certificate. */
export type SslMode = "disable" | "require" | "verify-full";

/** A PostgreSQL. */
export interface PostgresAddress {
  readonly kind: "postgres";
  readonly url: URL;
  readonly mode: SslMode;
  /** Certificates in PEM of who may vouch for the server; absent: those that Node knows. */
  readonly ca?: string;
}

/** A database. */
export type Address = PostgresAddress | { readonly kind: "sqlite"; readonly path: string };

/** The configuration of the adapter. */
export interface Config extends JsonObject {
  /** Names that flows use, with the secret of each. */
  readonly databases?: { readonly [name: string]: string };
  readonly ca?: string;
}

const SSL_MODES: readonly string[] = ["disable", "require", "verify-full"] satisfies SslMode[];
/** Parameters of libpq that name files; the process of an extension may read none. */
const SSL_FILES = ["sslrootcert", "sslcert", "sslkey"];
/** Parameters of other drivers that say otherwise than `sslmode` how, or than the address where, a connection goes. */
const FOREIGN = ["sslnegotiation", "uselibpqcompat", "host", "hostaddr", "port"];
const YES = /^(?:true|1)$/;
const NO = /^(?:false|0)$/;
/** This machine, which is reached over no network. */
const HERE = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/i;

/** The address of the database that a node names. Throws `NodeError` `sql_database`, `sql_address`, which do not show it. */
export async function addressOf(name: string | undefined, ctx: NodeContext): Promise<Address> {
  const { databases = {}, ca } = ctx.config as Config;
  const secret = name === undefined ? SECRETS[0] : known(databases, name);
  const text = (await ctx.credentials.secret(secret)).reveal().trim();
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "sqlite:" && url.host === "" && /^\/./.test(url.pathname)) {
    return { kind: "sqlite", path: decodeURIComponent(url.pathname) };
  }
  if (/^postgres(?:ql)?:$/.test(url?.protocol ?? "") && url?.hostname) {
    const file = SSL_FILES.find((name) => url.searchParams.has(name));
    if (file !== undefined) {
      const instead = '"ca" of the configuration takes the certificates of a CA as PEM';
      throw refused("sql_address", `${secret} has ${file}, a file that is not read: ${instead}`);
    }
    const foreign = FOREIGN.find((name) => url.searchParams.has(name));
    if (foreign !== undefined) {
      const instead = "sslmode says how the connection is sealed, and the address where it goes";
      throw refused("sql_address", `${secret} has ${foreign}, which is not read: ${instead}`);
    }
    const mode = url.searchParams.get("sslmode") ?? modeWithout(url);
    if (SSL_MODES.includes(mode)) {
      const same = mode === "disable" ? NO : YES;
      if (url.searchParams.getAll("ssl").every((value) => same.test(value))) {
        return { kind: "postgres", url, mode: mode as SslMode, ...(ca !== undefined && { ca }) };
      }
      const instead = "leave ssl out, sslmode says how the connection is sealed";
      throw refused("sql_address", `${secret} has an ssl that is not sslmode=${mode}: ${instead}`);
    }
    const modes = "verify-full, require (no check of the certificate) or disable";
    throw refused("sql_address", `${secret} needs ?sslmode=${modes}`);
  }
  const forms =
    "postgres://user:password@host:5432/name?sslmode=verify-full or sqlite:/absolute/path.db";
  throw refused("sql_address", `the secret ${secret} must be ${forms}`);
}

/** The mode of an address that names none; `ssl=true` is how other drivers ask for TLS with a certificate that is checked. */
function modeWithout(url: URL): string {
  if (YES.test(url.searchParams.get("ssl") ?? "")) return "verify-full";
  return HERE.test(url.hostname) ? "disable" : "";
}

function known(databases: NonNullable<Config["databases"]>, name: string): string {
  const secret = Object.hasOwn(databases, name) ? databases[name] : undefined;
  if (secret !== undefined) return secret;
  const names = Object.keys(databases).join(", ") || "none";
  throw refused("sql_database", `no database is called "${name}"; "databases" names ${names}`);
}
