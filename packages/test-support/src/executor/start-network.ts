/** A cluster whose parts are on machines of their own, as far as the network goes; and on disks of their own, as far as room goes. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mountDiskFor } from "../disk.ts";
import { makeNetwork, type TestNetwork } from "../networks.ts";
import { startPostgres } from "../postgres.ts";
import { startRestate } from "../restate.ts";
import type { ClusterGround } from "./start-cluster.ts";

/** Where each part is; servers are `server0` and so on, nodes of Restate `node0`. */
const DATABASE = "database";
/** The balancer between the nodes of Restate and the servers. */
const BALANCER = "balancer";

const NODES = 3;
const PORT = 9080;
const DATABASE_MEGABYTES = 192;
const NODE_MEGABYTES = 96;

/** What a cluster without its servers is, and its network. The disk of the database and that of the last node are small. */
export interface NetworkGround extends ClusterGround {
  readonly network: TestNetwork;
  /** The folder that the small disk of a part is mounted over. */
  readonly disks: { readonly database: string; readonly node: string };
}

const FORWARD = `
const { connect, createServer } = require("node:net");
const [own, port, ...servers] = process.argv.slice(1);
createServer((from) => {
  servers.push(servers.shift());
  const join = ([next, ...others]) => {
    if (next === undefined) return from.destroy();
    const to = connect(Number(port), next);
    const late = setTimeout(() => to.destroy(new Error("late")), 1000);
    let isJoined = false;
    to.once("connect", () => { clearTimeout(late); isJoined = true; from.pipe(to).pipe(from); });
    to.on("error", () => {}).on("close", () => { clearTimeout(late); isJoined ? from.destroy() : join(others); });
    from.once("close", () => to.destroy());
  };
  from.on("error", () => {});
  join(servers);
}).listen(Number(port), own);
`;

/** Starts all but the servers. For tests that say `describeWith(...PROGRAMS_OF.restate)` and ask `noNetworks` and `noMount`. */
export async function startNetworkGround(servers: number): Promise<NetworkGround> {
  const serverPlaces = Array.from({ length: servers }, (_, at) => `server${at}`);
  const nodePlaces = Array.from({ length: NODES }, (_, at) => `node${at}`);
  const network = makeNetwork([DATABASE, BALANCER, ...nodePlaces, ...serverPlaces]);
  const { addressOf, within } = network;
  const addresses = serverPlaces.map(addressOf);
  const forward = [process.execPath, "-e", FORWARD, addressOf(BALANCER), `${PORT}`, ...addresses];
  const [command = "", ...words] = within(BALANCER, forward);
  const balancer = spawn(command, words, { stdio: "ignore" });
  const kill = (): void => void balancer.kill("SIGKILL");
  process.once("exit", kill);
  let disk: ReturnType<typeof mountDiskFor> | undefined;
  let nodeFolder = "";
  const started = await Promise.allSettled([
    startPostgres({
      address: addressOf(DATABASE),
      within: (all) => within(DATABASE, all),
      megabytes: DATABASE_MEGABYTES,
    }),
    startRestate({
      nodes: NODES,
      addressOf: (node) => addressOf(nodePlaces[node] ?? ""),
      within: (node, all) => within(nodePlaces[node] ?? "", all),
      onFolder(node, folder) {
        if (node < NODES - 1) return;
        nodeFolder = folder;
        disk = mountDiskFor(folder, NODE_MEGABYTES);
      },
    }),
  ]);
  const [postgres, restate] = started;
  const stop = async (): Promise<void> => {
    process.off("exit", kill);
    kill();
    disk?.unmount();
    await Promise.all([
      postgres.status === "fulfilled" && postgres.value.stop(),
      restate.status === "fulfilled" && restate.value.stop(),
    ]);
    if (balancer.exitCode === null && balancer.signalCode === null) await once(balancer, "exit");
    network.close();
  };
  if (postgres.status === "rejected" || restate.status === "rejected") {
    await stop();
    throw started.find((one) => one.status === "rejected")?.reason;
  }
  const key = randomBytes(32).toString("hex");
  const { url, folder } = postgres.value;
  const { ingress, admin, identityKey } = restate.value;
  return {
    ...{ postgres: postgres.value, restate: restate.value, key, network, stop, wires: undefined },
    disks: { database: folder, node: nodeFolder },
    callOnly() {},
    optionOf: (at) =>
      JSON.stringify({
        ...{ url, key },
        restate: {
          ...{ ingress, admin, identityKeys: [identityKey] },
          ...{
            endpoint: `http://${addressOf(BALANCER)}:${PORT}`,
            listen: `${addresses[at]}:${PORT}`,
          },
        },
      }),
  };
}
