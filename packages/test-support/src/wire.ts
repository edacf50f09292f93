/** A wire on loopback in front of a port, which a test can cut. One where nobody is told needs a network of its own: `networks.ts`. */
import { connect, createServer, type Socket } from "node:net";
import { listen, portOf } from "./ports.ts";

export interface Wire {
  readonly port: number;
  /** Resets what is connected, and every new connection. */
  cut(): void;
  /** New connections come through. */
  mend(): void;
  close(): Promise<void>;
}

/** Lays a wire to a port of loopback. The caller closes it. */
export async function startWire(target: number): Promise<Wire> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const track = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket
      .on("error", () => {})
      .once("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
  };
  const reset = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const server = await listen(
    createServer((client) => {
      if (isCut) {
        client.on("error", () => {});
        client.resetAndDestroy();
        return;
      }
      const upstream = connect(target, "127.0.0.1");
      track(client, upstream);
      track(upstream, client);
      client.pipe(upstream).pipe(client);
    }),
  );
  return {
    port: portOf(server),
    cut() {
      isCut = true;
      reset();
    },
    mend() {
      isCut = false;
    },
    async close() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      reset();
      await closed;
    },
  };
}
