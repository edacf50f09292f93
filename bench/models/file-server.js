// A thread that serves one file of zeros behind the head that it is given, as fast as the loopback takes it.
import { createServer } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

const { head, bytes } = workerData;
const body = Buffer.alloc(bytes);
body.set(head);
const server = createServer((_, reply) => {
  reply.writeHead(200, { "content-length": bytes, etag: '"one"' });
  reply.end(body);
});
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
