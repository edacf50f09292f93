/** What the servers of a cluster stand on: PostgreSQL alone, or with three nodes of Restate and a balancer between these and the servers. */
import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { type PostgresServer, startPostgres } from "../postgres.ts";
import { type Balancer, type RestateCluster, startBalancer, startRestate } from "../restate.ts";

/** What says which server drives a run. */
export type ClusterKind = "postgres" | "restate";

/** Programs that a cluster needs, for `describeWith`. */
export const PROGRAMS_OF = {
  postgres: ["postgres"],
  restate: ["postgres", "restate-server"],
} as const satisfies Record<ClusterKind, unknown>;

/** A cluster without its servers. For tests that say `describeWith(...PROGRAMS_OF[kind])`. */
export interface ClusterGround {
  readonly postgres: PostgresServer;
  /** Undefined in a cluster of PostgreSQL alone. */
  readonly restate: RestateCluster | undefined;
  /** The key of the store, in hex. */
  readonly key: string;
  /** The option `cluster` of the server with this number, as JSON, with the key in hex. */
  optionOf(at: number): string;
  stop(): Promise<void>;
}

/** Starts all of it for so many servers, which take the calls of Restate at ports that stay. */
export async function startClusterGround(
  servers: number,
  kind: ClusterKind = "restate",
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
  const stop = async (): Promise<void> => {
    await Promise.all([balancer?.close(), restate?.stop(), postgres?.stop()]);
  };
  const failed = started.find((one) => one.status === "rejected");
  if (postgres === undefined || failed !== undefined) {
    await stop();
    throw failed?.reason;
  }
  const key = randomBytes(32).toString("hex");
  const shared = { url: postgres.url, key };
  if (restate === undefined || balancer === undefined) {
    return { postgres, restate: undefined, key, stop, optionOf: () => JSON.stringify(shared) };
  }
  const ports = await Promise.all(Array.from({ length: servers }, freePort));
  for (const port of ports) balancer.targets.add(port);
  const { ingress, admin, identityKey } = restate;
  return {
    ...{ postgres, restate, key, stop },
    optionOf: (at) =>
      JSON.stringify({
        ...shared,
        restate: {
          ...{ ingress, admin, identityKeys: [identityKey], endpoint: balancer.url },
          listen: `127.0.0.1:${ports[at]}`,
        },
      }),
  };
}

function freePort(): Promise<number> {
  return new Promise((done, refuse) => {
    const server = createServer();
    server.once("error", refuse);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => done(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}
