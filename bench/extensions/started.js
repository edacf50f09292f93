// Starts a server with the extensions of a project and ends. Usage: node started.js <project> [<extension>…]
import { start } from "@millrace/server";

const [folder, ...list] = process.argv.slice(2);
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const { url } = await start({
  port: 0,
  signals: false,
  store: "memory",
  models: false,
  log: silent,
  ...(list.length > 0 && { extensions: { folder, list } }),
});
const { items } = await (await fetch(`${url}/api/nodes?limit=200`)).json();
const ready = items.filter(({ type, state }) => type.startsWith("bench") && state === "ready");
process.exit(ready.length === list.length * 5 ? 0 : 1);
