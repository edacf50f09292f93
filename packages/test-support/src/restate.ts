/**
 * A cluster of Restate on loopback, and a balancer in front of the servers that it calls. For tests that say
 * `describeWith("restate-server")`. Nodes are processes of their own, which may be killed and started again with their data.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePorts, listen, portOf } from "./ports.ts";
import { fileOf } from "./programs.js";

/** Options of `startRestate`. Three nodes keep everything twice, and go on when one is gone. */
export interface RestateOptions {
  readonly nodes: 1 | 3;
  /** The address of each node; default loopback. */
  readonly addressOf?: (node: number) => string;
  /** The command line that runs these words where the node is. */
  readonly within?: (node: number, words: readonly string[]) => readonly string[];
  /** Called with the folder of each node before it is started. */
  readonly onFolder?: (node: number, folder: string) => void;
}

/** A running cluster. Nodes are numbered from 0. */
export interface RestateCluster {
  readonly ingress: readonly string[];
  readonly admin: readonly string[];
  /** The public key with which it signs its calls. */
  readonly identityKey: string;
  /** Holds the data of all nodes. */
  readonly folder: string;
  /** SIGKILL; resolves when the process is gone. */
  kill(node: number): Promise<void>;
  /** Starts a node that was killed, with the data that it had. */
  start(node: number): Promise<void>;
  /** Kills all nodes, removes what they have stored, and starts them as a new cluster. */
  wipe(): Promise<void>;
  stop(): Promise<void>;
}

const HEALTH_MS = 120_000;
const ASK_AGAIN_MS = 50;

/** Starts a cluster and waits until each node says that it is healthy. The caller stops it. */
export async function startRestate(options: RestateOptions): Promise<RestateCluster> {
  const { nodes: count, addressOf = () => "127.0.0.1", within = (_, words) => words } = options;
  const file = fileOf("restate-server");
  if (file === undefined) throw new Error('the tests must say describeWith("restate-server")');
  const folder = mkdtempSync(join(tmpdir(), "millrace-restate-"));
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  writeFileSync(join(folder, "key.pem"), privateKey.export({ format: "pem", type: "pkcs8" }));
  const ports = await freePorts(count * 3);
  const addresses = Array.from({ length: count }, (_, at) => addressOf(at));
  const nodes = addresses.map((_, at) => new Node({ file, folder, at, ports, addresses, within }));
  for (const [at, { data }] of nodes.entries()) {
    mkdirSync(data);
    options.onFolder?.(at, data);
  }
  const startAll = () => Promise.all(nodes.map((node) => node.start()));
  const killAll = () => Promise.all(nodes.map((node) => node.kill()));
  const stop = async () => {
    await killAll();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await startAll();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ingress: nodes.map(({ ingress }) => ingress),
    admin: nodes.map(({ admin }) => admin),
    // The last 32 bytes of the format are the key itself.
    identityKey: `publickeyv1_${base58(publicKey.export({ format: "der", type: "spki" }).subarray(-32))}`,
    folder,
    kill: async (node) => nodes[node]?.kill(),
    start: async (node) => nodes[node]?.start(),
    async wipe() {
      await killAll();
      for (const { data } of nodes) rmSync(data, { recursive: true, force: true });
      await startAll();
    },
    stop,
  };
}

interface NodeOptions {
  readonly file: string;
  readonly folder: string;
  readonly at: number;
  /** Three of each node: of the cluster, the ingress, the admin. */
  readonly ports: readonly number[];
  readonly addresses: readonly string[];
  readonly within: (node: number, words: readonly string[]) => readonly string[];
}

class Node {
  readonly ingress: string;
  readonly admin: string;
  readonly data: string;
  readonly #options: NodeOptions;
  #child: ChildProcess | undefined;
  #exited: Promise<unknown> = Promise.resolve();

  constructor(options: NodeOptions) {
    const { folder, at, ports, addresses } = options;
    this.#options = options;
    this.ingress = `http://${addresses[at]}:${ports[at * 3 + 1]}`;
    this.admin = `http://${addresses[at]}:${ports[at * 3 + 2]}`;
    this.data = join(folder, `node-${at}`);
  }

  async start(): Promise<void> {
    const { file, folder, at, within } = this.#options;
    mkdirSync(this.data, { recursive: true });
    const config = join(folder, `node-${at}.toml`);
    writeFileSync(config, configOf(this.#options, this.data));
    // The program of npm is a script that starts the real one: both are of a group of their own.
    const [command = file, ...words] = within(at, [file, "--no-logo", "--config-file", config]);
    const child = spawn(command, words, {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    this.#child = child;
    let told = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      told = (told + text).slice(-4_000);
    });
    this.#exited = new Promise((resolve) => child.once("exit", resolve));
    process.once("exit", this.#killGroup);
    const due = performance.now() + HEALTH_MS;
    for (const url of [`${this.ingress}/restate/health`, `${this.admin}/health`]) {
      while (!(await isHealthy(url))) {
        const isGone = child.exitCode !== null;
        if (isGone || performance.now() > due) throw new Error(`node ${at} of Restate: ${told}`);
        await sleep(ASK_AGAIN_MS);
      }
    }
  }

  async kill(): Promise<void> {
    this.#killGroup();
    await this.#exited;
    // The real program ends a moment after the script that waits for it.
    while (await isHealthy(`${this.admin}/health`)) await sleep(ASK_AGAIN_MS);
  }

  readonly #killGroup = (): void => {
    process.off("exit", this.#killGroup);
    const pid = this.#child?.pid;
    this.#child = undefined;
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // it is gone
    }
  };
}

/** Nodes trust each other at once; what is stored can be searched, because it is not compressed. */
function configOf({ folder, at, ports, addresses }: NodeOptions, data: string): string {
  const own = addresses.map((address, node) => `${address}:${ports[node * 3]}`);
  const urls = own.map((one) => `"http://${one}"`).join(", ");
  return `
cluster-name = "millrace-test"
node-name = "node-${at}"
base-dir = "${data}"
listen-mode = "tcp"
bind-address = "${own[at]}"
advertised-address = "http://${own[at]}"
auto-provision = ${at === 0}
default-num-partitions = 4
default-replication = ${addresses.length > 1 ? 2 : 1}
disable-telemetry = true
log-filter = "error"
log-disable-ansi-codes = true
rocksdb-total-memory-size = "128 MiB"
gossip-suspect-interval = "0s"
rocksdb-disable-wal-compression = true
rocksdb-disable-l0-l1-compression = true

[metadata-client]
addresses = [${urls}]

[worker.invoker]
request-identity-private-key-pem-file = "${join(folder, "key.pem")}"

[ingress]
bind-address = "${addresses[at]}:${ports[at * 3 + 1]}"

[admin]
bind-address = "${addresses[at]}:${ports[at * 3 + 2]}"
disable-web-ui = true
`;
}

function isHealthy(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { timeout: 15_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once("timeout", () => request.destroy(new Error("late")));
    request.once("error", () => resolve(false));
  });
}

const DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

function base58(bytes: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
  let text = "";
  for (; rest > 0n; rest /= 58n) text = DIGITS[Number(rest % 58n)] + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return DIGITS.charAt(0).repeat(Math.max(0, zeros)) + text;
}

export interface Balancer {
  readonly url: string;
  /** Ports on loopback; each new connection goes to the next one that takes it. */
  readonly targets: Set<number>;
  /** Ends what is connected. */
  reset(): void;
  close(): Promise<void>;
}

/** A balancer of connections: it looks at no request. */
export async function startBalancer(): Promise<Balancer> {
  const targets = new Set<number>();
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = await listen(
    createServer((client) => {
      const inTurn = [...targets];
      const ports = inTurn.map((_, index) => inTurn[(turn + index) % inTurn.length] ?? 0);
      turn += 1;
      track(client);
      forward(client, ports, track);
    }),
  );
  function track(socket: Socket): void {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
  }
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    targets,
    reset() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Joins the client with the first of these ports that takes a connection. */
function forward(
  client: Socket,
  [port, ...others]: readonly number[],
  track: (socket: Socket) => void,
): void {
  if (port === undefined) return void client.destroy();
  const upstream = connect(port, "127.0.0.1");
  let isJoined = false;
  upstream.once("connect", () => {
    isJoined = true;
    track(upstream);
    client.pipe(upstream).pipe(client);
    client.once("close", () => upstream.destroy());
    upstream.once("close", () => client.destroy());
  });
  upstream.once("error", () => {
    if (!isJoined) forward(client, others, track);
  });
}
