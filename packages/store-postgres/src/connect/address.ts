/** Where the database is: a URL as a configuration of the driver. Nothing here shows a password. */
import type { ClientConfig } from "pg";

/** The address and how its connections are set up. */
export interface Address {
  readonly config: ClientConfig;
  /** The schema with the tables of the store. */
  readonly schema: string;
  /** Host and database, for messages. */
  readonly place: string;
}

const DEFAULT_SCHEMA = "millrace";
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;
const TLS_MODES: ReadonlySet<string | null> = new Set([
  null,
  "disable",
  "require",
  "verify-ca",
  "verify-full",
]);

const CONNECT_MS = 10_000;
/** A call without an answer for this long counts as cut: the other side may be gone without a word. */
const CALL_MS = 30_000;
/** Settings of every session. A process that stands still inside of a transaction loses it, and with it its locks. */
const SESSION =
  "-c lock_timeout=10000 -c idle_in_transaction_session_timeout=10000 -c bytea_output=hex -c timezone=UTC";

/**
 * Reads `postgres://user:password@host:port/database?sslmode=…&search_path=…`. `schema` counts before `search_path`; default
 * "millrace". Throws `TypeError` for a URL that is none, without showing it.
 */
export function addressOf(text: string, schema?: string): Address {
  const url = parsed(text);
  const mode = url.searchParams.get("sslmode");
  if (!TLS_MODES.has(mode)) {
    throw new TypeError(
      'sslmode of the store is "disable", "require", "verify-ca" or "verify-full"',
    );
  }
  if (mode === "verify-ca" && !url.searchParams.has("sslrootcert")) {
    throw new TypeError("sslmode=verify-ca of the store needs sslrootcert, a file of certificates");
  }
  const name = schema ?? url.searchParams.get("search_path") ?? DEFAULT_SCHEMA;
  if (!SCHEMA.test(name)) {
    throw new TypeError(
      "the schema of the store is a name of small letters, digits and underscores, at most 63",
    );
  }
  const options = url.searchParams.get("options");
  for (const each of ["search_path", "options"]) url.searchParams.delete(each);
  // without it the driver takes "require" for "verify-full" and warns on the console
  if (mode !== null && mode !== "disable") url.searchParams.set("uselibpqcompat", "true");
  const host = url.searchParams.get("host") ?? url.host;
  return {
    config: {
      connectionString: url.href,
      application_name: "millrace",
      options: [options, SESSION, `-c search_path=${name}`].filter(Boolean).join(" "),
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CALL_MS,
      keepAlive: true,
    },
    schema: name,
    place: `${host}${url.pathname}`,
  };
}

function parsed(text: string): URL {
  let url: URL | undefined;
  try {
    url = new URL(text);
  } catch {
    // the error of URL shows its input, which may hold a password
  }
  if (url !== undefined && /^postgres(?:ql)?:$/.test(url.protocol)) return url;
  throw new TypeError("the address of the store is a URL of postgres://");
}
