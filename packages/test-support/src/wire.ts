/** A wire on loopback in front of a port, which a test can cut, or hold as if the other side had gone without a word. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Wire {
  readonly port: number;
  /** Resets what is connected, and every new connection. */
  cut(): void;
  /** Nothing comes through any more, in either direction, and nobody is told; new connections are taken and get no answer. */
  hold(): void;
  /** What was held goes on, and new connections come through. */
  mend(): void;
  close(): Promise<void>;
}

/** Two sockets that are one connection. */
interface Pair {
  readonly client: Socket;
  /** Absent until the wire is whole. */
  upstream?: Socket;
  /** One side has ended while nobody was to be told. */
  isOver: boolean;
}

/** Lays a wire to a port of loopback. The caller closes it. */
export async function startWire(target: number): Promise<Wire> {
  const pairs = new Set<Pair>();
  let state: "whole" | "held" | "cut" = "whole";

  const end = (pair: Pair): void => {
    pair.isOver = true;
    if (state === "held") return;
    pairs.delete(pair);
    pair.client.destroy();
    pair.upstream?.destroy();
  };
  const carry = (pair: Pair, from: Socket, to: () => Socket | undefined): void => {
    from.on("data", (data) => to()?.write(data));
    from.on("error", () => {}).on("close", () => end(pair));
  };
  const join = (pair: Pair): void => {
    const upstream = connect(target, "127.0.0.1");
    pair.upstream = upstream;
    carry(pair, upstream, () => pair.client);
    carry(pair, pair.client, () => upstream);
  };
  const reset = (pair: Pair): void => {
    pairs.delete(pair);
    pair.client.resetAndDestroy();
    pair.upstream?.resetAndDestroy();
  };

  const server = createServer((client) => {
    const pair: Pair = { client, isOver: false };
    if (state === "cut") {
      client.on("error", () => {});
      client.resetAndDestroy();
      return;
    }
    pairs.add(pair);
    if (state === "whole") join(pair);
    else client.pause().on("error", () => {});
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      state = "cut";
      for (const pair of pairs) reset(pair);
    },
    hold() {
      state = "held";
      for (const { client, upstream } of pairs) for (const one of [client, upstream]) one?.pause();
    },
    mend() {
      state = "whole";
      for (const pair of pairs) {
        if (pair.isOver) end(pair);
        else if (pair.upstream === undefined) join(pair);
        for (const one of [pair.client, pair.upstream]) one?.resume();
      }
    },
    async close() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      for (const pair of pairs) reset(pair);
      await closed;
    },
  };
}
