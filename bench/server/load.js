// Clients over bare sockets: they cost little, so that the server is what is measured.
import { once } from "node:events";
import { connect } from "node:net";

const END_OF_HEAD = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");
const LENGTH = /content-length: (\d+)/i;

export async function open(port) {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** Sends a request `count` times over `connections`, each waiting for its answer. Answers the seconds that it took. */
export async function exchange(port, text, { connections, count }) {
  const request = Buffer.from(text);
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
  let left = count;
  const startedAt = performance.now();
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise((resolve, reject) => {
          let rest = Buffer.alloc(0);
          const next = () => {
            if (left <= 0) return resolve();
            left -= 1;
            socket.write(request);
          };
          socket.on("data", (chunk) => {
            rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
            const head = rest.indexOf(END_OF_HEAD);
            if (head < 0) return;
            const header = rest.subarray(0, head).toString("latin1");
            if (!header.startsWith("HTTP/1.1 200")) return reject(new Error(rest.toString()));
            const length = Number(LENGTH.exec(header)?.[1] ?? Number.NaN);
            if (Number.isNaN(length)) return reject(new Error(`no length: ${header}`));
            if (rest.length < head + 4 + length) return;
            rest = rest.subarray(head + 4 + length);
            next();
          });
          socket.on("close", () => reject(new Error("closed")));
          next();
        }),
    ),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  for (const socket of sockets) socket.removeAllListeners("close").destroy();
  return seconds;
}

/** Reads streams to their end. Answers seconds and bytes. */
export async function readStreams(port, text, clients) {
  const startedAt = performance.now();
  const bytes = await Promise.all(
    Array.from({ length: clients }, async () => {
      const socket = await open(port);
      let read = 0;
      await new Promise((resolve) => {
        socket.on("data", (chunk) => {
          read += chunk.length;
          if (chunk.subarray(-5).equals(LAST_CHUNK)) resolve(); // some keep the socket whatever they are asked
        });
        socket.on("close", resolve);
        socket.write(text);
      });
      socket.destroy();
      return read;
    }),
  );
  return { seconds: (performance.now() - startedAt) / 1_000, bytes };
}
