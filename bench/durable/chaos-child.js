// The server that is killed: over the store in the folder of its last argument, on a free port. It writes its address once it
// serves. Its flows may reach loopback, where their effects are counted.
// Usage: node chaos-child.js <folder>
import { writeSync } from "node:fs";
import { start } from "@millrace/server";

const quiet = () => {};
const tell = (fields, message) => writeSync(2, `${message} ${fields.err?.stack ?? ""}\n`);
const { url } = await start({
  store: process.argv.at(-1),
  port: 0,
  credentials: { store: "memory" },
  egress: { allow: [{ cidr: "127.0.0.0/8" }] },
  log: { debug: quiet, info: quiet, warn: tell, error: tell },
});
writeSync(1, `${url}\n`);
