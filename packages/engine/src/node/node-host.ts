/** The host of Node: clock and hash of the machine, network, files and programs under policies. */
import { createHash } from "node:crypto";
import type { Host } from "../host.ts";
import { createPortableHost } from "../portable-host.ts";
import { openFetch } from "./egress/open-fetch.ts";
import { type Resolve, systemResolve } from "./egress/pinned-lookup.ts";
import { openFiles } from "./files/open-files.ts";
import { openSpawn } from "./processes/open-spawn.ts";

/** What may differ from Node's own: `resolve` answers all addresses of a name. */
export interface NodeHostOptions {
  /** Addresses of a name; default the resolver of the machine. Every answer is checked against the policy. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

/** What `createNodeHost` answers: a `Host` that has network, files and programs. */
export type NodeHost = Required<Host>;

/**
 * A host on Node. `openFetch` gives an egress client with connection pools of its own; `openFiles` gives the files below
 * a folder; `openSpawn` starts the programs of a list. All throw `TypeError` for a policy that cannot be read. Timers keep
 * the process alive until they are cancelled; kept connections do not.
 */
export function createNodeHost(options: NodeHostOptions = {}): NodeHost {
  const resolve: Resolve = options.resolve ?? systemResolve;
  return {
    ...createPortableHost(),
    sha256: (bytes) => createHash("sha256").update(bytes).digest("hex"),
    openFetch: (policy) => openFetch(policy, resolve),
    openFiles,
    openSpawn,
  };
}
