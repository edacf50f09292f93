// The server that is killed: over the store in a folder, or one of a cluster; on a free port. It writes its address once it serves.
// Its flows may reach loopback, where their effects are counted.
// Usage: node chaos-child.js <folder> [<the option "cluster" as JSON, its key in hex> [log]]; log: all lines, on stderr.
import { writeSync } from "node:fs";
import { start } from "@millrace/server";

const quiet = () => {};
const tell = (fields, message) => writeSync(2, `${message} ${fields.err?.stack ?? ""}\n`);
const [store, text, log] = process.argv.slice(2);
const { key, ...cluster } = JSON.parse(text ?? "{}");
const { url } = await start({
  store,
  ...(key !== undefined && { cluster: { ...cluster, key: Buffer.from(key, "hex") } }),
  port: 0,
  credentials: { store: "memory" },
  egress: { allow: [{ cidr: "127.0.0.0/8" }] },
  ...(log !== "log" && {
    log: { debug: quiet, info: quiet, warn: key === undefined ? tell : quiet, error: tell },
  }),
});
writeSync(1, `${url}\n`);
