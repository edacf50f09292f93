// One server in one process of its own; tells its port, and what it has used whenever it is asked.
// Usage (forked): server.js <variant> <source as JSON>
import { once } from "node:events";
import { createSource } from "./source.js";
import { variants } from "./variants.js";

const [name, source] = process.argv.slice(2);
const onCancel = () => process.send({ cancelledAt: `${process.hrtime.bigint()}` });
const server = await variants[name](createSource(JSON.parse(source)), onCancel);
server.maxConnections = 0;
server.keepAliveTimeout = 600_000;
await once(server.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 }), "listening");

process.on("message", ({ collect }) => {
  if (collect) globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  process.send({
    cpuUs: user + system,
    rss: process.memoryUsage.rss(),
    heap: process.memoryUsage().heapUsed,
  });
});
process.send({ port: server.address().port });
