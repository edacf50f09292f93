/** The option `cluster`: what the servers of one store share. */
import { isObject } from "@millrace/contracts/kit";

/** Where Restate is, and where it reaches this server. @see the README of `@millrace/restate` */
export interface RestateOption {
  /** Ingress addresses of the cluster, `["http://127.0.0.1:8080"]`. */
  readonly ingress: readonly string[];
  /** Admin addresses, `["http://127.0.0.1:9070"]`. */
  readonly admin: readonly string[];
  /** Host and port where this server takes the calls of Restate. */
  readonly listen: string;
  /** Where Restate reaches the servers: the same address for all of them. Default `http://` and `listen`. */
  readonly endpoint?: string | undefined;
  /** Request identity keys of the cluster, `publickeyv1_…`. Needed unless `listen` is on loopback. */
  readonly identityKeys?: readonly string[] | undefined;
}

/** Several servers on one store in PostgreSQL. Needs `@millrace/store-postgres`, with `restate` also `@millrace/restate`. */
export interface ClusterOption {
  /** `postgres://user:password@host:port/database`. It is never shown. */
  readonly url: string;
  /** 32 bytes that seal private values, the same for all servers. */
  readonly key: Uint8Array;
  /** Restate says which server drives a run. Absent: PostgreSQL does. */
  readonly restate?: RestateOption | undefined;
  /** This server drives all runs, and is the only one of the store. Default false. */
  readonly alone?: boolean | undefined;
}

const KEY_BYTES = 32;
const MEMBERS: ReadonlySet<string> = new Set(["url", "key", "restate", "alone"]);

/** The problem of the option, as the rest of a sentence that begins with its name. */
export function clusterProblem(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) return "must be an object";
  const unknown = Object.keys(value).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) return `has url, key, restate and alone, and no "${unknown}"`;
  const { url, key, restate, alone } = value as { readonly [name: string]: unknown };
  if (typeof url !== "string" || !/^postgres(?:ql)?:\/\//.test(url)) {
    return "needs a url that begins with postgres://";
  }
  if (!(key instanceof Uint8Array) || key.length !== KEY_BYTES) {
    return `needs a key of ${KEY_BYTES} bytes, the same for all servers`;
  }
  if (alone !== undefined && typeof alone !== "boolean") {
    return "has an alone that is neither true nor false";
  }
  if (restate === undefined || restate === null) return undefined;
  if (alone === true) return "has restate, or alone, and not both";
  return isObject(restate) ? undefined : "has a restate that is no object";
}
