// A service in a process of its own, so that its work is nobody's time: JSON for every GET, after `delayMs` a token for every
// POST. It prints its origin, and ends with its standard input. A GET of /count answers how many tokens it gave out.
// Usage: node service.js [delayMs]
import { createServer } from "node:http";

const delayMs = Number(process.argv[2] ?? 0);
const thing = JSON.stringify({ id: 17, title: "A thing", tags: ["one", "two"], done: false });
let given = 0;

function token() {
  given += 1;
  const access_token = `access-${given}-`.padEnd(40, "a");
  const refresh_token = `refresh-${given}-`.padEnd(40, "r");
  return JSON.stringify({ access_token, refresh_token, expires_in: 3600, token_type: "Bearer" });
}

const server = createServer((request, response) => {
  const answer = () => {
    const isCount = request.url === "/count";
    const body = request.method === "POST" ? token() : isCount ? String(given) : thing;
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  };
  request.resume().once("end", delayMs > 0 ? () => setTimeout(answer, delayMs) : answer);
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
process.stdin.resume().once("end", () => process.exit());
