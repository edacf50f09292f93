// Checks the laws of the text form (packages/dsl/test/laws) for any number of seeds, on every core.
//   npm run fuzz -- --seeds 1000000 [--from 0] [--law L4] [--jobs 2] [--ledger FILE]
// Progress goes to stderr; the last line of stdout says what was checked. A law that does not hold is printed with its seed
// and the smallest text found, and ends in exit code 1. One seed again: --from SEED --seeds 1.
// A million seeds are hours of a core: with a ledger the run may be stopped at any time, and the same command goes on with what
// is left. A ledger is of one code: its first line is the digest of what runs, and other code is refused.
import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const outDir = join(root, "node_modules", ".cache", "millrace-fuzz");
const CHUNK = 200;
const MAX_FAILURES = 10;
/** A chunk that takes longer hangs; a large graph takes seconds. */
const HANG_MS = 300_000;

if (process.send) await work();
else process.exitCode = await lead();

/** A worker: checks the chunks that it is sent. */
async function work() {
  const { checkSeed } = await import(pathToFileURL(join(outDir, "run-seed.js")).href);
  process.on("message", ({ from, to, law }) => {
    const times = new Map();
    const failures = [];
    for (let seed = from; seed < to; seed += 1) failures.push(...checkSeed(seed, law, { times }));
    process.send({ failures, times: [...times] });
  });
  process.on("disconnect", () => process.exit());
  process.send({ failures: [], times: [] });
}

async function lead() {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string", default: "10000" },
      from: { type: "string", default: "0" },
      law: { type: "string" },
      jobs: { type: "string", default: String(availableParallelism()) },
      ledger: { type: "string" },
    },
  });
  const { law } = values;
  const from = wholeNumber("from", values.from);
  const end = from + wholeNumber("seeds", values.seeds);
  await bundle();
  const { LAWS } = await import(pathToFileURL(join(outDir, "laws.js")).href);
  if (law !== undefined && !LAWS.some(({ id }) => id === law)) {
    throw new Error(`unknown law "${law}"; known: ${LAWS.map(({ id }) => id).join(" ")}`);
  }

  const ledger = values.ledger && openLedger(values.ledger, { from, end, law });
  const start = performance.now();
  const times = new Map();
  let next = from;
  let done = 0;
  let failed = 0;
  const before = ledger ? ledger.seeds : 0;
  const skip = () => {
    while (ledger?.done.has(next)) next = Math.min(end, next + CHUNK);
  };
  const said = setInterval(() => {
    const each = (performance.now() - start) / Math.max(1, done);
    const left = Math.round(((end - from - before - done) * each) / 1000);
    process.stderr.write(
      `${before + done} of ${end - from} seeds, ${left} s left, ${failed} failures\n`,
    );
  }, 10_000);

  const runWorker = () =>
    new Promise((resolve, reject) => {
      const worker = fork(fileURLToPath(import.meta.url));
      let [at, size, sent] = [next, 0, 0];
      let watch;
      worker.on("message", ({ failures, times: spent }) => {
        clearTimeout(watch);
        done += size;
        if (ledger && size > 0) ledger.add({ at, size, ms: performance.now() - sent, failures });
        for (const [id, ms] of spent) times.set(id, (times.get(id) ?? 0) + ms);
        for (const failure of failures) {
          failed += 1;
          process.stdout.write(
            `seed ${failure.seed}, ${failure.law}: ${failure.message}\n${failure.shown}\n\n`,
          );
        }
        skip();
        if (next >= end || failed >= MAX_FAILURES) {
          worker.disconnect();
          resolve();
          return;
        }
        at = next;
        size = Math.min(CHUNK, end - next);
        next += size;
        sent = performance.now();
        watch = setTimeout(() => {
          worker.kill("SIGKILL");
          reject(new Error(`one of the seeds ${at} to ${at + size - 1} hangs`));
        }, HANG_MS);
        worker.send({ from: at, to: at + size, law });
      });
      worker.on("exit", (code, signal) => {
        clearTimeout(watch);
        if (code === 0) resolve();
        else
          reject(
            new Error(`a worker ended with ${signal ?? code} at seeds ${at} to ${at + size - 1}`),
          );
      });
    });

  try {
    const jobs = Math.min(wholeNumber("jobs", values.jobs), Math.ceil((end - from) / CHUNK));
    await Promise.all(Array.from({ length: jobs }, runWorker));
  } finally {
    clearInterval(said);
  }
  const seconds = (performance.now() - start) / 1000;
  if (ledger) {
    process.stdout.write(`${ledger.report()}\n`);
    return ledger.failures > 0 || ledger.seeds < end - from ? 1 : 0;
  }
  const shares = [...times].map(([id, ms]) => `${id} ${(ms / done).toFixed(2)}`).join(", ");
  process.stderr.write(`ms per seed: ${shares}\n`);
  process.stdout.write(
    `${law ?? "every law"}, seeds ${from} to ${from + done - 1}: ${done} checked, ${failed} failures, ${seconds.toFixed(1)} s\n`,
  );
  return failed > 0 ? 1 : 0;
}

/** What of the seeds was checked already, a line a chunk: its first seed, how many, milliseconds, failures. */
function openLedger(file, { from, end, law = "every law" }) {
  const hash = createHash("sha256");
  for (const name of readdirSync(outDir).sort()) hash.update(readFileSync(join(outDir, name)));
  const head = `${law}, seeds ${from} to ${end - 1}, code ${hash.digest("hex").slice(0, 16)}`;
  if (!existsSync(file)) writeFileSync(file, `${head}\n`);
  const [found, ...lines] = readFileSync(file, "utf8").trimEnd().split("\n");
  if (found !== head) throw new Error(`${file} is of "${found}", not of "${head}"`);
  const ledger = { done: new Set(), seeds: 0, ms: 0, failures: 0, add, report };
  for (const line of lines) {
    const [at, size, ms, failures] = line.split(" ").map(Number);
    take({ at, size, ms, failures });
  }
  return ledger;

  function take({ at, size, ms, failures }) {
    ledger.done.add(at);
    ledger.seeds += size;
    ledger.ms += ms;
    ledger.failures += failures;
  }

  function add({ at, size, ms, failures }) {
    take({ at, size, ms, failures: failures.length });
    appendFileSync(file, `${at} ${size} ${Math.round(ms)} ${failures.length}\n`);
  }

  function report() {
    const hours = (ledger.ms / 3_600_000).toFixed(2);
    return `${head}: ${ledger.seeds} checked, ${ledger.failures} failures, ${hours} hours of workers`;
  }
}

function wholeNumber(name, text) {
  if (!/^\d+$/.test(text)) throw new Error(`--${name} takes a whole number, found "${text}"`);
  return Number(text);
}

/** The laws and the sources of the packages as JavaScript. */
async function bundle() {
  const { build } = await import("tsup");
  await build({
    config: false,
    silent: true,
    entry: ["run-seed", "laws"].map((name) => join(root, "packages/dsl/test/laws", `${name}.ts`)),
    outDir,
    format: ["esm"],
    target: "node20",
    noExternal: [/./],
    clean: true,
    dts: false,
    tsconfig: join(root, "packages/dsl/tsconfig.json"),
    esbuildOptions: (options) => {
      options.conditions = ["@millrace/source"];
    },
  });
}
