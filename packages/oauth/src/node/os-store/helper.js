/**
 * The process in which the native credential libraries run: they may hang, block or crash, and then this process is killed.
 * Requests come as JSON lines on stdin, one at a time is worked on, and each gets one JSON line on stdout, in order:
 *   {"id":1,"op":"open","resolveFrom":"/folder"}       → {"id":1,"value":{"keytar":null,"napi":"not installed"}}
 *   {"id":2,"op":"get","backend":"keytar","service":"millrace","account":"service:x"} → {"id":2,"value":"…"}
 * `value` of `open` holds for each library null, or why it cannot be loaded. A failure is `{"id":3,"error":"…"}`. The end of
 * stdin is the end of the process.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const MODULES = { keytar: "keytar", napi: "@napi-rs/keyring" };

/** Without the pin the library silently takes the kernel's keyring, which forgets everything at the next boot. */
const PINNED = { linux: { store: "secret-service" } };

/** How each library is asked. Absent is null for `get` and false for `delete`. */
const OPERATIONS = {
  keytar: {
    get: (keytar, { service, account }) => keytar.getPassword(service, account),
    set: (keytar, { service, account, value }) => keytar.setPassword(service, account, value),
    delete: (keytar, { service, account }) => keytar.deletePassword(service, account),
    list: async (keytar, { service }) =>
      (await keytar.findCredentials(service)).map(({ account }) => account),
  },
  napi: {
    get: (napi, request) => entry(napi, request).getPassword(),
    set: (napi, request) => entry(napi, request).setPassword(request.value),
    delete: (napi, request) => entry(napi, request).deletePassword(),
    list: async (napi, { service }) =>
      (await napi.findCredentialsAsync(service)).map(({ account }) => account),
  },
};

const entry = ({ AsyncEntry }, { service, account }) => new AsyncEntry(service, account, PINNED);

const loaded = new Map();

function open({ resolveFrom }) {
  const places = [import.meta.url];
  if (resolveFrom) places.unshift(join(resolveFrom, "resolve-from-here.js"));
  return Object.fromEntries(Object.keys(MODULES).map((name) => [name, load(name, places)]));
}

/** Null, or why the library cannot be had. The first place that has it decides. */
function load(name, places) {
  const require = places.map((place) => createRequire(place)).find((from) => has(from, name));
  if (!require) return "not installed";
  try {
    loaded.set(name, require(MODULES[name]));
    return null;
  } catch {
    return "installed, but its native part does not load";
  }
}

function has(require, name) {
  try {
    require.resolve(MODULES[name]);
    return true;
  } catch {
    return false;
  }
}

async function answer(request) {
  if (request.op === "open") return open(request);
  const value = await OPERATIONS[request.backend][request.op](loaded.get(request.backend), request);
  return value ?? null;
}

/** No library puts the value into an error; should one ever do, it ends here. */
function messageOf(error, { value }) {
  const message = String(error?.message ?? error);
  return value ? message.replaceAll(value, "[redacted]") : message;
}

// Also while a call hangs: the parent is gone, and a blocked thread would delay an ordinary exit.
process.stdin.on("end", () => process.kill(process.pid, "SIGKILL"));

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const { id } = request;
  let reply;
  try {
    reply = { id, value: await answer(request) };
  } catch (error) {
    reply = { id, error: messageOf(error, request) };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
