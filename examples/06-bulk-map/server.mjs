// The other side of this example: answers /items/<n> with {"id":n,"value":2n}. The first request for every fiftieth
// item is answered 503, as a busy service would. Prints its origin, serves until it is ended.
import { createServer } from "node:http";

const seen = new Set();
const server = createServer((request, response) => {
  const id = /^\/items\/(\d{1,6})$/.exec(request.url ?? "")?.[1];
  const busy = id !== undefined && Number(id) % 50 === 0 && !seen.has(id);
  if (busy) seen.add(id);
  const status = id === undefined ? 404 : busy ? 503 : 200;
  const body = status === 200 ? { id: Number(id), value: 2 * Number(id) } : { status };
  response.sendDate = false; // the same bytes on every day
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
});
server.listen(Number(process.argv[2] ?? 8787), "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
