/** Options of the dispatcher, checked once; messages name the option and what to do. */
import { isIPv4 } from "node:net";
import { checkOptions, type OptionNames } from "@millrace/contracts/options";

/** Gets messages for the operator, which name runs and addresses, and hold nothing of a run but its id. */
export interface RestateLog {
  warn(fields: object, message?: string): void;
}

/** Options of `createRestateDispatcher`. Addresses are of the operator's network; none may hold a user, a query or a fragment. */
export interface RestateDispatcherOptions {
  /** Ingress addresses of the cluster, `["http://127.0.0.1:8080"]`. When one fails, the next one is tried. */
  readonly ingress: readonly string[];
  /** Admin addresses, `["http://127.0.0.1:9070"]`, where `serve` registers this server's endpoint. */
  readonly admin: readonly string[];
  /** Host and port where `serve` takes calls of Restate, `127.0.0.1:9080`. Port 0 takes a free one and needs `endpoint`. */
  readonly listen: string;
  /**
   * Where Restate reaches the servers. All servers of a cluster have the same one, so that any of them can be called: the address
   * of a balancer, or a name that resolves to all. Default `http://` and `listen`, for a single server.
   */
  readonly endpoint?: string | undefined;
  /** Request identity keys of the cluster, `publickeyv1_…`; others are refused. Needed unless `listen` is on loopback. */
  readonly identityKeys?: readonly string[] | undefined;
  /** Runs that are driven here at the same time; default 64. More are driven by other servers, or wait. */
  readonly maxDrives?: number | undefined;
  /** Told of what fails and is tried again. */
  readonly log?: RestateLog | undefined;
  /** Default the platform's. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

const OPTIONS: OptionNames<RestateDispatcherOptions> = {
  ...{ ingress: true, admin: true, listen: true, endpoint: true, identityKeys: true },
  ...{ maxDrives: true, log: true, fetch: true },
};

/** The options as the parts read them. Addresses end without a slash. */
export interface Settings {
  readonly ingress: readonly string[];
  readonly admin: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly endpoint: string;
  readonly identityKeys: readonly string[];
  readonly maxDrives: number;
  readonly log: RestateLog | undefined;
  readonly fetch: typeof globalThis.fetch;
}

const CALLER = "createRestateDispatcher";
const IDENTITY_KEY = /^publickeyv1_[1-9A-HJ-NP-Za-km-z]{32,50}$/;
const ANY_HOST: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);
const MAX_DRIVES = 10_000;

/** Throws `TypeError` for options that are missing, unknown or out of range. */
export function readSettings(options: RestateDispatcherOptions): Settings {
  checkOptions(CALLER, options, OPTIONS);
  const { identityKeys = [], maxDrives = 64, log, fetch = globalThis.fetch } = options;
  const { host, port } = readListen(options.listen);
  if (!Array.isArray(identityKeys) || !identityKeys.every(isIdentityKey)) {
    throw wrong('"identityKeys" must be a list of keys such as "publickeyv1_…"');
  }
  if (identityKeys.length === 0 && !isLoopback(host)) {
    throw wrong(
      `"identityKeys" is needed, because "listen" (${options.listen}) is not on loopback; Restate logs its key when it starts with request-identity-private-key-pem-file`,
    );
  }
  if (!Number.isInteger(maxDrives) || maxDrives < 1 || maxDrives > MAX_DRIVES) {
    throw wrong(`"maxDrives" must be a whole number from 1 to ${MAX_DRIVES}`);
  }
  return {
    ingress: readAddresses("ingress", options.ingress),
    admin: readAddresses("admin", options.admin),
    ...{ host, port, identityKeys, maxDrives, log, fetch },
    endpoint:
      options.endpoint === undefined
        ? defaultEndpoint(host, port)
        : readAddress("endpoint", options.endpoint),
  };
}

const wrong = (problem: string): TypeError => new TypeError(`${CALLER}: ${problem}`);

const isIdentityKey = (key: unknown): boolean => typeof key === "string" && IDENTITY_KEY.test(key);

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));

function readAddresses(name: string, addresses: unknown): readonly string[] {
  if (!Array.isArray(addresses) || addresses.length === 0) {
    throw wrong(`"${name}" must be a list of at least one address`);
  }
  return addresses.map((address) => readAddress(name, address));
}

/** The value itself is in no message: an address may hold a password. */
function readAddress(name: string, address: unknown): string {
  const url = typeof address === "string" && URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw wrong(`"${name}" must be http:// or https://, a host, and a port`);
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw wrong(`"${name}" must hold no user, no password, no query and no fragment`);
  }
  return url.href.replace(/\/+$/, "");
}

function readListen(listen: unknown): { readonly host: string; readonly port: number } {
  const match = typeof listen === "string" ? /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(listen) : null;
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined || port > 65_535) {
    throw wrong('"listen" must be a host and a port, such as "127.0.0.1:9080" or "[::1]:9080"');
  }
  return { host, port };
}

function defaultEndpoint(host: string, port: number): string {
  if (port === 0 || ANY_HOST.has(host)) {
    throw wrong('"endpoint" is needed, because "listen" does not say where Restate reaches it');
  }
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
