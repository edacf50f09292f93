// All cases by name; what a case is says ../rounds.js.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  createReadStream,
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Worker } from "node:worker_threads";
import { createNodeHost } from "@millrace/engine/node";
import { createModelManager } from "@millrace/local-models";
import { spent } from "../collect.js";
import { sized } from "../size.js";
import { runnerCases } from "./runner-cases.js";

const BYTES = sized(256, 1) * 1_048_576;
const FILES = sized(200, 5);
const MODELS = import.meta.resolve("@millrace/local-models");
const CONTRACTS = import.meta.resolve("@millrace/contracts");
const ENDS = new Set(["done", "error", "cancelled"]);

/** The smallest file that is a model: one tensor of 32 numbers. */
function smallModel() {
  const text = (value) => Buffer.concat([u64(value.length), Buffer.from(value)]);
  const u32 = (value) => Buffer.from(new Uint32Array([value]).buffer);
  const u64 = (value) => Buffer.from(new BigUint64Array([BigInt(value)]).buffer);
  const head = Buffer.concat([
    Buffer.from("GGUF"),
    ...[u32(3), u64(1), u64(1)],
    ...[text("general.architecture"), u32(8), text("llama")],
    ...[text("a"), u32(1), u64(32), u32(0), u64(0)],
  ]);
  return Buffer.concat([head, Buffer.alloc(-head.length & 31), Buffer.alloc(128)]);
}

function scratch() {
  const folder = mkdtempSync(join(tmpdir(), "bench-models-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function manage(dir, emit = () => {}) {
  const fetch = createNodeHost().openFetch({
    allow: [{ cidr: "127.0.0.0/8" }],
    maxResponseBytes: Number.MAX_SAFE_INTEGER,
  });
  return createModelManager({ dir, enginesDir: `${dir}-engines`, fetch, sink: { emit } });
}

/** Milliseconds of processor between two turns of the event loop, the longest: busy neighbours do not show. */
async function longestTurn(work) {
  let longest = 0;
  let isOver = false;
  let before = process.cpuUsage();
  const look = () => {
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, (user + system) / 1_000);
    before = process.cpuUsage();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  return longest;
}

async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

const download = {
  what: "clock of an install of 256 MiB from loopback (fetched, synced, hashed, registered), beside a plain fetch to a file and the SHA-256 of that file",
  bars: { "fetch, hash": 1.5 },
  samples: 1,
  async prepare() {
    const folder = scratch();
    const head = smallModel();
    const server = new Worker(new URL("file-server.js", import.meta.url), {
      workerData: { head, bytes: BYTES },
    });
    const [port] = await once(server, "message");
    const url = `http://127.0.0.1:${port}/big.gguf`;
    let told = () => {};
    const manager = manage(join(folder, "models"), (_, payload) => told(payload));
    await manager.scanned;
    const plain = async () => {
      const file = join(folder, "plain");
      const { body } = await fetch(url);
      await pipeline(Readable.fromWeb(body), createWriteStream(file));
      const hash = createHash("sha256");
      await pipeline(createReadStream(file), hash);
      return hash.digest("hex");
    };
    const sha256 = await plain();
    const install = () =>
      new Promise((resolve, reject) => {
        told = ({ stage, message }) => {
          if (stage === "done") resolve();
          else if (ENDS.has(stage)) reject(new Error(message));
        };
        manager.install({ source: url, id: "big", sha256 });
      });
    return {
      contenders: {
        "fetch, hash": () => timed(plain),
        async millrace() {
          const ms = await timed(install);
          await manager.remove("big");
          return ms;
        },
      },
      close: () => manager.close(),
    };
  },
};

const scan = {
  what: "processor time of opening a folder of 200 models that has not changed, beside what cannot be left out (the registry through `JSON.parse`, the folder, `stat` of each file), and beside the first time; the first time by the clock, and the longest that it held up the process",
  bars: { "stat, JSON.parse": 2.5, "first time": null },
  samples: 15,
  warmMs: 0,
  async prepare() {
    const folder = scratch();
    const dir = join(folder, "models");
    const files = join(dir, "files");
    mkdirSync(files, { recursive: true });
    for (let i = 0; i < FILES; i++) writeFileSync(join(files, `m${i}.gguf`), smallModel());
    const open = async () => {
      const manager = manage(dir);
      const ms = await spent(() => manager.scanned);
      if (manager.list().length !== FILES) throw new Error("a model was not found");
      await manager.close();
      return ms;
    };
    const heldUp = await longestTurn(open);
    let slowest = 0;
    return {
      contenders: {
        "stat, JSON.parse": () =>
          spent(async () => {
            JSON.parse(await readFile(join(dir, "registry.json"), "utf8"));
            await Promise.all((await readdir(files)).map((name) => stat(join(files, name))));
          }),
        async "first time"() {
          rmSync(join(dir, "registry.json"));
          const begun = performance.now();
          const ms = await open();
          slowest = Math.max(slowest, performance.now() - begun);
          return ms;
        },
        millrace: open,
      },
      facts: () => ({
        "first time, ms": { value: Math.round(slowest), bar: 1_000 },
        "held up, ms": { value: Math.round(heldUp), bar: 50, work: 1 },
      }),
    };
  },
};

/** Imports a module in a process of its own, and counts the native code that it loads. */
function importing(url) {
  const program = `
    let native = 0;
    const open = process.dlopen;
    process.dlopen = (...args) => { native += 1; return open(...args); };
    const from = performance.now();
    await import(${JSON.stringify(url)});
    console.log(JSON.stringify({ ms: performance.now() - from, native }));
  `;
  const args = ["--input-type=module", "--eval", program];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

const imported = {
  what: "clock of importing @millrace/local-models in a new process, beside @millrace/contracts; native modules that it loads",
  bars: { contracts: null },
  samples: 3,
  prepare: async () => ({
    contenders: {
      contracts: async () => importing(CONTRACTS).ms,
      millrace: async () => importing(MODELS).ms,
    },
    facts: () => ({ "native modules": { value: importing(MODELS).native, bar: 0 } }),
  }),
};

export const cases = { download, scan, import: imported, ...runnerCases };

/** `load` starts eight processes in a round. */
export const roundsOf = (name, quick) => (quick ? (name === "load" ? 1 : 2) : 5);
