/** The six transports, each before a real server whose journal holds the logs of the suite. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import {
  type AddressInfo,
  createConnection,
  createServer as createNetServer,
  type Socket,
} from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MessageChannel } from "node:worker_threads";
import {
  type ChannelHost,
  connectWire,
  createEmitterHost,
  createInProcessTransport,
  createLineWire,
  type Transport,
  type TransportOptions,
  type WindowMessage,
} from "@millrace/desktop";
import { createElectronTransport, exposeMillrace, serveElectron } from "@millrace/desktop/electron";
import { createHttpTransport } from "@millrace/desktop/http";
import { createPortTransport, type PortLike, servePort } from "@millrace/desktop/port";
import { createTauriTransport } from "@millrace/desktop/tauri";
import { recordTransportLogs, type TransportSubject } from "@millrace/test-support/transports";
import { serveStdio } from "../../../cli/src/commands/serve/stdio.ts";
import { createChannelHost, createServer, start } from "../../../server/src/index.ts";
import { openStore } from "../../../store/src/index.ts";
import { fakeElectron } from "./fake-electron.ts";
import { fakeSidecar } from "./fake-tauri.ts";

const BIN = fileURLToPath(new URL("../../../cli/bin/millrace.js", import.meta.url));
/** Enough for several pages of a journal, and for a wire to merge most of them. */
export const FEWER = 10_000;
const ORIGIN = "app://studio";
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A host in this process, and what a subject sees of it. */
interface LocalHost extends Pick<TransportSubject, "emit" | "aborted"> {
  readonly host: ChannelHost;
  readonly deltas: number;
  close(): Promise<void>;
}

/** A server without a port, whose models are emitted by hand and whose handlers' signals are watched. */
export async function openLocalHost(deltas: number): Promise<LocalHost> {
  const server = await createServer({ store: "memory", log: silent });
  await recordTransportLogs(server.host.store.journal, { deltas });
  const flows = createChannelHost(server);
  let seen = (): void => {};
  const models = createEmitterHost({
    invoke(command, args, options = {}) {
      options.signal?.addEventListener("abort", () => seen());
      return flows.invoke(command, args, options);
    },
  });
  return {
    deltas,
    host: {
      invoke: models.invoke,
      listen: (channel, deliver, options) =>
        (channel === "flow:execution" ? flows : models).listen(channel, deliver, options),
    },
    emit: models.emit,
    aborted: () =>
      new Promise((resolve) => {
        seen = resolve;
      }),
    close: () => server.close({ graceMs: 0 }),
  };
}

export function inProcess({ host, emit, aborted, deltas }: LocalHost): TransportSubject {
  const open = new Set<Transport>();
  return {
    emit,
    aborted,
    deltas,
    async connect(options) {
      const transport = createInProcessTransport(host, options);
      open.add(transport);
      return transport;
    },
    // Nothing lies between: the host's owner ends the transports with it.
    async die() {
      for (const transport of open) await transport.close();
    },
  } as TransportSubject;
}

export function messagePort({ host, emit, aborted, deltas }: LocalHost): TransportSubject {
  const stops = new Set<() => void>();
  return {
    emit,
    aborted,
    deltas,
    async connect(options: TransportOptions) {
      const { port1, port2 } = new MessageChannel();
      stops.add(servePort(port1 as unknown as PortLike, host));
      return createPortTransport(port2 as unknown as PortLike, options);
    },
    async die() {
      for (const stop of stops) stop();
    },
  } as TransportSubject;
}

export function electron({ host, emit, aborted, deltas }: LocalHost): TransportSubject {
  const shell = fakeElectron();
  const stop = serveElectron({ ipcMain: shell.ipcMain, host, allowedOrigins: [ORIGIN] });
  return {
    emit,
    aborted,
    deltas,
    async connect(options: TransportOptions) {
      const window = shell.open(ORIGIN);
      exposeMillrace(window);
      return createElectronTransport(window.bridge(), options);
    },
    async die() {
      stop();
    },
  } as TransportSubject;
}

export function tauri({ host, emit, aborted, deltas }: LocalHost): TransportSubject {
  const kills = new Set<() => void>();
  return {
    emit,
    aborted,
    deltas,
    connect(options: TransportOptions) {
      const { command, kill } = fakeSidecar((streams, died) => {
        void serveStdio(host, streams, new AbortController().signal).then(died);
      });
      kills.add(kill);
      return createTauriTransport({ command, ...options });
    },
    async die() {
      for (const kill of kills) kill();
    },
  } as TransportSubject;
}

/** A data folder with the logs of the suite. */
export async function recordedFolder(): Promise<{ readonly dir: string; remove(): void }> {
  const dir = mkdtempSync(join(tmpdir(), "millrace-transports-"));
  const store = await openStore({ dir });
  await recordTransportLogs(store.journal, { deltas: FEWER });
  await store.close();
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** A server on a port. */
export async function http(dir: string): Promise<TransportSubject> {
  let left = (): void => {};
  const log = {
    ...silent,
    info(fields: object) {
      // Of a call that was cut: the answer of its handler, which has stopped waiting.
      if ("route" in fields) left();
    },
  };
  const server = await start({ port: 0, signals: false, store: dir, log });
  // A server that is closed answers before it goes; one whose machine is gone does not.
  const sockets = new Set<Socket>();
  const line = createNetServer((near) => {
    const far = createConnection(server.address.port, server.address.address);
    for (const socket of [near, far]) socket.on("error", () => {});
    near.pipe(far).pipe(near);
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
    sockets.add(near);
  });
  line.listen(0, "127.0.0.1");
  await once(line, "listening");
  const { port } = line.address() as AddressInfo;
  return {
    connect: async (options) =>
      createHttpTransport({
        url: `http://127.0.0.1:${port}`,
        fetch: (url, init) => fetch(url, init),
        retry: { maxTries: 1 },
        ...options,
      }),
    aborted: () =>
      new Promise((resolve) => {
        left = resolve;
      }),
    async die() {
      line.close();
      for (const socket of sockets) socket.destroy();
      await server.close({ graceMs: 0 });
    },
  };
}

/** The command line as a sidecar, built as it is shipped. */
export function stdio(dir: string): TransportSubject {
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [BIN, "serve", "--stdio", "--home", dir], {
    env: { PATH, HOME: dir, XDG_CONFIG_HOME: dir, XDG_DATA_HOME: dir },
    stdio: ["pipe", "pipe", "ignore"],
  });
  // Each case listens for itself.
  for (const emitter of [child, child.stdout]) emitter.setMaxListeners(0);
  return {
    async connect(options) {
      return connectWire(
        createLineWire<WindowMessage, unknown>({
          write: (text) => void child.stdin.write(text),
          onText: (handler) => void child.stdout.setEncoding("utf8").on("data", handler),
          onEnd: (handler) => void child.once("close", handler),
          close() {},
        }),
        options,
      );
    },
    async die() {
      child.kill("SIGKILL");
      await once(child, "close");
    },
  };
}

/** A subject that begins with its first connection. */
export function later(open: () => Promise<TransportSubject>): TransportSubject {
  return {
    deltas: FEWER,
    connect: async (options) => (await open()).connect(options),
    die: async () => (await open()).die(),
    aborted: async () => (await open()).aborted?.(),
  };
}
