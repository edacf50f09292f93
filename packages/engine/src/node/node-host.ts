/** The host of Node: clock and hash of the machine, network, files and programs under policies. */
import { isIP } from "node:net";
import type { FetchLike } from "@millrace/contracts";
import type { EgressPolicy, Host } from "../host.ts";
import { createPortableHost } from "../portable-host.ts";
import { createEgressCheck } from "./egress/egress-check.ts";
import { openFiles } from "./files/open-files.ts";
import { openSpawn } from "./processes/open-spawn.ts";

const FEW_BYTES = 256; // their digest in JavaScript costs no more than a call of OpenSSL, and far less than to load it

/** Replacements for Node's own functions: `resolve` answers all addresses of a name. */
export interface NodeHostOptions {
  /** Addresses of a name; default the resolver of the machine. Every answer is checked against the policy. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

/**
 * The addresses that a TCP connection to a host may use, each of them checked. Throws `NodeError` `egress_denied`, `dns`. Whoever
 * connects to one of them does not resolve the name again.
 */
export type EgressResolver = (host: string, port: number) => Promise<readonly string[]>;

/** Result of `createNodeHost`: a `Host` that has network, files and programs. */
export interface NodeHost extends Required<Host> {
  /** For connections that are no HTTP: what a policy permits of them. Throws `TypeError` for a policy that cannot be read. */
  openResolver(policy: EgressPolicy): EgressResolver;
}

/**
 * A host on Node. `openFetch` gives an egress client with connection pools of its own; `openFiles` gives the files below
 * a folder; `openSpawn` starts the programs of a list. All throw `TypeError` for a policy that cannot be read. Timers keep
 * the process alive until they are cancelled; kept connections do not.
 */
export function createNodeHost(options: NodeHostOptions = {}): NodeHost {
  const portable = createPortableHost();
  return {
    ...portable,
    sha256: (bytes) => (bytes.length <= FEW_BYTES ? portable.sha256(bytes) : nativeSha256(bytes)),
    openFetch: (policy) => lateFetch(policy, options.resolve),
    openResolver: (policy) => lateResolver(policy, options.resolve),
    openFiles,
    openSpawn,
  };
}

function nativeSha256(bytes: Uint8Array): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(bytes).digest("hex");
}

/** Addresses that a policy permits; the code that looks them up is loaded for the first connection. */
function lateResolver(policy: EgressPolicy, resolve: NodeHostOptions["resolve"]): EgressResolver {
  const check = createEgressCheck(policy);
  return async (host, port) => {
    const target = check.host(host, port);
    if (isIP(target.host) !== 0) return [target.host];
    const { PinnedLookup, systemResolve } = await import("./egress/pinned-lookup.ts");
    const lookup = new PinnedLookup(target, check, resolve ?? systemResolve);
    return (await lookup.addresses()).map(({ address }) => address);
  };
}

/** An egress client whose policy is read now, and whose code, with Node's HTTP and TLS, is loaded for the first request. */
function lateFetch(policy: EgressPolicy, resolve: NodeHostOptions["resolve"]): FetchLike {
  createEgressCheck(policy);
  let opened: Promise<FetchLike> | undefined;
  return async (url, init) => {
    opened ??= import("./egress/open-fetch.ts").then(({ openFetch }) => openFetch(policy, resolve));
    return (await opened)(url, init);
  };
}
