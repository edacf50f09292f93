// Runs a bundle where Node's own globals are gone, and tells its thread what came out and which of them were asked for.
const { runInThisContext } = require("node:vm");
const { parentPort, workerData } = require("node:worker_threads");

// What only Node has. `setImmediate` is looked for by name, as a faster way than a channel, so it is gone and not watched.
const WATCHED = ["process", "Buffer", "global", "require", "module", "exports"];
const touched = [];
delete globalThis.setImmediate;
delete globalThis.clearImmediate;
for (const name of WATCHED) {
  Object.defineProperty(globalThis, name, {
    configurable: true,
    get() {
      touched.push(name);
      return undefined;
    },
  });
}
// A script of its own: it sees globals, and not the names of this module.
const run = runInThisContext(`(() => { ${workerData}\n; return guest.runGuest(); })`);
run().then((result) => parentPort.postMessage({ ...result, touched }));
