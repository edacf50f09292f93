/** What the servers of a cluster stand on: PostgreSQL alone, or with three nodes of Restate and a balancer between these and the servers. */
import { randomBytes } from "node:crypto";
import { freePort } from "../ports.ts";
import { type PostgresServer, startPostgres } from "../postgres.ts";
import { type Balancer, type RestateCluster, startBalancer, startRestate } from "../restate.ts";
import { startWire, type Wire } from "../wire.ts";

/** What says which server drives a run. */
export type ClusterKind = "postgres" | "restate";

/** Programs that a cluster needs, for `describeWith`. */
export const PROGRAMS_OF = {
  postgres: ["postgres"],
  restate: ["postgres", "restate-server"],
} as const satisfies Record<ClusterKind, unknown>;

/** What lies between one server and the rest. `restate`: both ways; undefined in a cluster of PostgreSQL alone. */
export interface ServerWires {
  readonly postgres: Pick<Wire, "cut" | "mend">;
  readonly restate: Pick<Wire, "cut" | "mend"> | undefined;
}

/** Options of `startClusterGround`. `wired`: the number of the server that has wires. */
export interface ClusterGroundOptions {
  readonly kind?: ClusterKind;
  readonly wired?: number;
}

/** A cluster without its servers. For tests that say `describeWith(...PROGRAMS_OF[kind])`. */
export interface ClusterGround {
  readonly postgres: PostgresServer;
  /** Undefined in a cluster of PostgreSQL alone. */
  readonly restate: RestateCluster | undefined;
  /** The key of the store, in hex. */
  readonly key: string;
  /** The option `cluster` of the server with this number, as JSON, with the key in hex. */
  optionOf(at: number): string;
  /** From now on Restate calls this server alone; undefined: any. */
  callOnly(at: number | undefined): void;
  /** Undefined when no server has any. */
  readonly wires: ServerWires | undefined;
  stop(): Promise<void>;
}

/** Starts all of it for so many servers, which take the calls of Restate at ports that stay. */
export async function startClusterGround(
  servers: number,
  { kind = "restate", wired }: ClusterGroundOptions = {},
): Promise<ClusterGround> {
  const isRestate = kind === "restate";
  const started = await Promise.allSettled([
    startPostgres(),
    isRestate ? startRestate({ nodes: 3 }) : undefined,
    isRestate ? startBalancer() : undefined,
  ]);
  const [postgres, restate, balancer] = started.map((one) =>
    one.status === "fulfilled" ? one.value : undefined,
  ) as [PostgresServer?, RestateCluster?, Balancer?];
  const laid: Wire[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all([balancer?.close(), restate?.stop(), postgres?.stop()]);
    await Promise.all(laid.map((wire) => wire.close()));
  };
  const failed = started.find((one) => one.status === "rejected");
  if (postgres === undefined || failed !== undefined) {
    await stop();
    throw failed?.reason;
  }
  /** The address by way of a wire. */
  const wire = async (url: string): Promise<string> => {
    const by = new URL(url);
    const one = await startWire(Number(by.port));
    laid.push(one);
    by.port = String(one.port);
    return by.href;
  };
  const key = randomBytes(32).toString("hex");
  const { ingress = [], admin = [], identityKey } = restate ?? {};
  const straight: Addresses = { url: postgres.url, ingress, admin };
  const wiredOne = wired === undefined ? undefined : await addressesOf(straight, wire);
  const ports = await Promise.all(Array.from({ length: servers }, freePort));
  const called = [...ports];
  if (wired !== undefined && balancer !== undefined) {
    called[wired] = Number(new URL(await wire(`http://127.0.0.1:${ports[wired]}`)).port);
  }
  const callOnly = (only: number | undefined): void => {
    balancer?.targets.clear();
    for (const [at, port] of called.entries()) {
      if (only === undefined || at === only) balancer?.targets.add(port);
    }
    if (only !== undefined) balancer?.reset();
  };
  callOnly(undefined);
  const [toPostgres, ...toRestate] = laid;
  return {
    ...{ postgres, restate, key, stop, callOnly },
    optionOf(at) {
      const { url, ...nodes } = (at === wired ? wiredOne : undefined) ?? straight;
      const ofRestate = {
        ...{ ...nodes, identityKeys: [identityKey], endpoint: balancer?.url },
        listen: `127.0.0.1:${ports[at]}`,
      };
      return JSON.stringify({ url, key, ...(restate !== undefined && { restate: ofRestate }) });
    },
    wires: toPostgres && {
      postgres: toPostgres,
      restate: restate && together(toRestate),
    },
  };
}

interface Addresses {
  readonly url: string;
  readonly ingress: readonly string[];
  readonly admin: readonly string[];
}

/** The same by way of wires, that to PostgreSQL first. */
async function addressesOf(
  { url, ingress, admin }: Addresses,
  wire: (url: string) => Promise<string>,
): Promise<Addresses> {
  return {
    url: await wire(url),
    ingress: await Promise.all(ingress.map(wire)),
    admin: await Promise.all(admin.map(wire)),
  };
}

function together(wires: readonly Wire[]): Pick<Wire, "cut" | "mend"> {
  const all = (what: "cut" | "mend") => () => {
    for (const wire of wires) wire[what]();
  };
  return { cut: all("cut"), mend: all("mend") };
}
