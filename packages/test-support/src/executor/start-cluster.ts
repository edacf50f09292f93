/** What the servers of a cluster stand on: PostgreSQL, three nodes of Restate, and a balancer between these and the servers. */
import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { type PostgresServer, startPostgres } from "../postgres.ts";
import { type Balancer, type RestateCluster, startBalancer, startRestate } from "../restate.ts";

/** A cluster without its servers. For tests that say `describeWith("postgres", "restate-server")`. */
export interface ClusterGround {
  readonly postgres: PostgresServer;
  readonly restate: RestateCluster;
  /** The key of the store, in hex. */
  readonly key: string;
  /** The option `cluster` of the server with this number, as JSON, with the key in hex. */
  optionOf(at: number): string;
  stop(): Promise<void>;
}

/** Starts all of it for so many servers, which take the calls of Restate at ports that stay. */
export async function startClusterGround(servers: number): Promise<ClusterGround> {
  const started = await Promise.allSettled([
    startPostgres(),
    startRestate({ nodes: 3 }),
    startBalancer(),
  ]);
  const [postgres, restate, balancer] = started.map((one) =>
    one.status === "fulfilled" ? one.value : undefined,
  ) as [PostgresServer?, RestateCluster?, Balancer?];
  const stop = async (): Promise<void> => {
    await Promise.all([balancer?.close(), restate?.stop(), postgres?.stop()]);
  };
  if (postgres === undefined || restate === undefined || balancer === undefined) {
    await stop();
    throw started.find((one) => one.status === "rejected")?.reason;
  }
  const ports = await Promise.all(Array.from({ length: servers }, freePort));
  for (const port of ports) balancer.targets.add(port);
  const key = randomBytes(32).toString("hex");
  const { ingress, admin, identityKey } = restate;
  return {
    ...{ postgres, restate, key, stop },
    optionOf: (at) =>
      JSON.stringify({
        ...{ url: postgres.url, key },
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
