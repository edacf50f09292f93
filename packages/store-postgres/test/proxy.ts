/** A wire to a server that can be cut at a chosen word. */
import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** What happens to the next message that holds a word: it arrives and its answer does not, or it does not arrive. */
export interface Wire {
  /** The address of the server, by way of the wire. */
  readonly url: string;
  cutAfter(word: string): void;
  cutBefore(word: string): void;
  /** Puts another text, of the same length, in the place of one that is sent. */
  swap(text: string, other: string): void;
  /** From now on every answer takes so many milliseconds more. */
  slow(ms: number): void;
  /** How many connections were cut. */
  readonly cuts: number;
}

/** Puts a wire before the server at `url`; it is taken down with the test. */
export async function newWire(url: string): Promise<Wire> {
  const { hostname, port: serverPort } = new URL(url);
  const sockets = new Set<Socket>();
  let cut: { readonly word: string; readonly isAfter: boolean } | undefined;
  let cuts = 0;
  let swapped: readonly [text: string, other: string] | undefined;
  let slowMs = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(serverPort), hostname);
    const both = [client, upstream];
    const end = (): void => {
      for (const socket of both) socket.destroy();
    };
    let isDeaf = false;
    for (const socket of both) {
      sockets.add(socket);
      socket.on("error", end).on("close", end);
    }
    client.on("data", (given) => {
      const data =
        swapped === undefined
          ? given
          : Buffer.from(given.toString("latin1").replaceAll(...swapped), "latin1");
      if (cut === undefined || !data.includes(cut.word)) {
        upstream.write(data);
        return;
      }
      const { isAfter } = cut;
      cut = undefined;
      cuts += 1;
      isDeaf = true;
      if (isAfter) upstream.write(data);
      else end();
    });
    upstream.on("data", (data) => {
      if (isDeaf) end();
      else if (slowMs === 0) client.write(data);
      else setTimeout(() => client.write(data), slowMs);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as { readonly port: number };
  const wire = new URL(url);
  wire.port = String(port);
  return {
    url: wire.href,
    cutAfter(word) {
      cut = { word, isAfter: true };
    },
    cutBefore(word) {
      cut = { word, isAfter: false };
    },
    swap(text, other) {
      swapped = [text, other];
    },
    slow(ms) {
      slowMs = ms;
    },
    get cuts() {
      return cuts;
    },
  };
}
