// One server of a cluster and, in the same process, one of a service made with Restate's SDK alone; both have the same effect. It writes
// its address once both serve.
// Usage: node cluster-child.js <folder> <the option "cluster" as JSON, its key in hex> <port of the plain service>
import { appendFileSync, writeSync } from "node:fs";
import { createServer } from "node:http2";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { defineNodeType, jsonSchema } from "@millrace/contracts";
import { start } from "@millrace/server";

const [store, text, plainPort] = process.argv.slice(2);
const { key, ...cluster } = JSON.parse(text);
const quiet = () => {};

/** Takes `ms`, and says in a file which process has done it; without a file it does nothing. */
async function effect({ ms = 0, file = "" }) {
  if (ms > 0) await sleep(ms);
  if (file !== "") appendFileSync(file, `${process.pid}\n`);
  return {};
}

if (Number(plainPort) > 0) {
  // Node 20 does not have it, and the SDK calls it.
  Promise.withResolvers ??= function withResolvers() {
    const parts = {};
    parts.promise = new this((resolve, reject) => Object.assign(parts, { resolve, reject }));
    return parts;
  };
  const { resolve } = createRequire(import.meta.resolve("@millrace/restate"));
  const sdk = await import(pathToFileURL(resolve("@restatedev/restate-sdk")).href);
  const run = async (context, { steps, ...how }) => {
    for (let at = 0; at < steps; at += 1) await context.run(`s${at}`, () => effect(how));
  };
  const services = [sdk.service({ name: "plain", handlers: { run } })];
  const plain = createServer(sdk.createEndpointHandler({ services, logger: quiet }));
  await new Promise((done) => plain.listen(Number(plainPort), "127.0.0.1", done));
}

const { url } = await start({
  ...{ store, port: 0, credentials: { store: "memory" } },
  cluster: { ...cluster, key: Buffer.from(key, "hex") },
  nodeTypes: [
    defineNodeType({
      ...{ type: "bench.effect", title: "Effect", summary: "The effect of both.", effect: "write" },
      fields: jsonSchema({
        type: "object",
        properties: { ms: { type: "number" }, file: { type: "string" } },
      }),
      output: jsonSchema({ type: "object" }),
      run: (fields) => effect(fields),
    }),
  ],
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
});
writeSync(1, `${url}\n`);
