/** Stored data of a connection besides its credential; none of it is secret. */
import type { Json } from "@millrace/contracts";
import type { ConnectionRow, Connections } from "@millrace/store";

/** One connection. A credential without a record works: its service is then the one of the same slug. */
export interface ConnectionRecord {
  readonly slug: string;
  readonly service: string;
  /** Scopes that were asked for. */
  readonly scopes: readonly string[];
  /** ISO 8601. */
  readonly connectedAt?: string;
  /** Code and ISO 8601 time of the newest failure; gone with the next success. */
  readonly lastError?: { readonly code: string; readonly at: string };
  /** Only a person can help: the grant is gone. */
  readonly reconnect?: boolean;
}

/** Where records are kept. */
export interface ConnectionRecords {
  get(slug: string): Promise<ConnectionRecord | undefined>;
  list(): Promise<readonly ConnectionRecord[]>;
  /** Writes or replaces. */
  put(record: ConnectionRecord): Promise<void>;
  /** Nothing happens when there is none. */
  delete(slug: string): Promise<void>;
}

/** Records that end with the process. */
export function memoryConnectionRecords(): ConnectionRecords {
  const records = new Map<string, ConnectionRecord>();
  return {
    get: async (slug) => records.get(slug),
    list: async () => [...records.values()],
    put: async (record) => void records.set(record.slug, record),
    delete: async (slug) => void records.delete(slug),
  };
}

/** Records in the store of a server. */
export function storedConnectionRecords(table: Connections): ConnectionRecords {
  const all = async () => (await table.list()).map(recordOf);
  return {
    get: async (slug) => (await all()).find((record) => record.slug === slug),
    list: all,
    put: (record) => table.put(rowOf(record)),
    delete: async (slug) => void (await table.delete(slug)),
  };
}

/** Members without a column in the table. */
type Body = Omit<ConnectionRecord, "slug" | "scopes" | "reconnect">;

function rowOf({ slug, scopes, reconnect, ...body }: ConnectionRecord): ConnectionRow {
  return {
    slug,
    status: reconnect === true ? "reconnect_required" : "connected",
    scope: scopes.join(" "),
    expiresAt: null, // the credential knows
    body: body as unknown as Json,
  };
}

function recordOf({ slug, status, scope, body }: ConnectionRow): ConnectionRecord {
  return {
    ...(body as unknown as Body),
    slug,
    scopes: scope === null || scope === "" ? [] : scope.split(" "),
    ...(status === "reconnect_required" && { reconnect: true }),
  };
}
