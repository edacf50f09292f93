// Runs of `millrace run --save --json` with one fault each: signals, SIGKILL, pipes that close, a stdout and a disk that are full.
//   F1  Every line on stdout is a line of the stored log, in order, but for one parting summary.
//   F2  Exit code and stderr say what has happened; 0 means that everything was written.
//   F3  `resume` completes the run, and its log holds all laws of logs.
//   F4  A step that had ended is not repeated, no step is lost, and only steps that were at work happen twice.
// Most cases run in this process, with streams and a signal of the harness; those that need a process get one.
import { execFileSync, spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { checkLog, parseEvent } from "@millrace/contracts";
import { openStore } from "@millrace/store";
import { createRandom } from "../random.js";

const ITEMS = 10;
const AT_ONCE = 3;
const RUNS_A_HOME = 100; // a store that grows for ever would measure that
const DISK_MEGABYTES = 24;
const STOPPED = new Set([1, 74, 130, 143, null]); // exit codes of what a fault stops; null: by a signal
const HANG_MS = 120_000;
const FLOW = `flow 1 faults

input file: string

node all: map {
  items = range(0, ${ITEMS})
  @concurrency = ${AT_ONCE}
  body {
    node note: file.write {
      path = inputs.file
      content = "\${item}\\n"
      mode = "append"
    }
    node wait: delay {
      for = 1ms
    }
    note -> wait
    output = note.bytes
  }
}

output n: int = all.count
`;

/** By what a run is disturbed, and how often: of 100 cases. */
const SHARES = {
  sigint: 22,
  sigterm: 18,
  "closed pipe": 22,
  "full stdout": 18,
  "full disk, then room": 4,
  "full disk, then SIGINT": 4,
  SIGKILL: 4,
  "second SIGINT": 4,
  "closed pipe of a process": 2,
  "SIGTERM of a process": 2,
};
/** Mounting is of the system, whatever PATH the tests have. */
const SYSTEM = { stdio: "ignore", env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" } };
/** Names of the faults. */
export const FAULTS = Object.keys(SHARES);
const ON_DISK = new Set(["full disk, then room", "full disk, then SIGINT"]);

/** The fault of a case. */
export function faultOf(seed) {
  let at = createRandom(seed)() * 100;
  for (const [fault, share] of Object.entries(SHARES)) {
    at -= share;
    if (at < 0) return fault;
  }
  return "sigint";
}

/**
 * Does the cases `seeds` and answers what was wrong, a line each. `main` and `bin`: the command as a function and as a program.
 * `disk`: whether file systems may be mounted; without it the cases of a full disk are skipped and counted. `told` hears of each case.
 */
export async function injectFaults(seeds, { folder, main, bin, disk, lanes = 3, told = () => {} }) {
  const wrong = [];
  const counts = {};
  const count = (name) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  const queue = { disk: [], other: [] };
  for (const seed of seeds) queue[ON_DISK.has(faultOf(seed)) ? "disk" : "other"].push(seed);
  if (!disk && queue.disk.length > 0) {
    counts["skipped: no right to mount a disk"] = queue.disk.length;
    queue.disk = [];
  }
  const work = async (name, seeds, isDisk) => {
    if (seeds.length === 0) return;
    const lane = openLane(join(folder, name), { main, bin, isDisk });
    try {
      for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
        const fault = faultOf(seed);
        const problems = await within(HANG_MS, lane.one(seed, fault)).catch((error) => [
          error instanceof Error ? (error.stack ?? error.message) : String(error),
        ]);
        count(fault);
        for (const problem of problems) wrong.push(`case ${seed}, ${fault}: ${problem}`);
        told({ seed, fault, problems });
      }
    } finally {
      lane.close();
    }
  };
  await Promise.all([
    work("disk", queue.disk, true),
    ...Array.from({ length: lanes }, (_, n) => work(`lane-${n}`, queue.other, false)),
  ]);
  return { counts, wrong };
}

function openLane(folder, { main, bin, isDisk }) {
  const home = join(folder, "home");
  mkdirSync(home, { recursive: true });
  if (isDisk) mount(home);
  writeFileSync(join(folder, "faults.flow"), FLOW);
  let done = 0;
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    MILLRACE_HOME: join(home, "data"),
    XDG_CONFIG_HOME: folder,
    NO_COLOR: "1",
  };

  return {
    async one(seed, fault) {
      if (done % RUNS_A_HOME === 0) rmSync(env.MILLRACE_HOME, { recursive: true, force: true });
      done += 1;
      const random = createRandom(seed);
      random(); // it has chosen the fault
      const file = `effects-${seed}.txt`;
      const words = ["run", "faults.flow", "--save", "--json", "--grace", "2s"];
      words.push("-i", `file=${file}`, "--tag", `case=${seed}`);
      const given = { words, cwd: folder, env, home, random, main, bin };
      const first = await INJECT[fault](given);
      const problems = await judge(first, { seed, file: join(folder, file), given });
      rmSync(join(folder, file), { force: true });
      return problems;
    },
    close() {
      if (isDisk) execFileSync("umount", ["-l", home], SYSTEM);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What the first process left is right, `resume` ends it, and the effects are those of one run. */
async function judge(first, { seed, file, given }) {
  const problems = [];
  const fail = (text) =>
    problems.push(
      `${text}; exit ${first.code}, stderr ${JSON.stringify(first.stderr.slice(-300))}`,
    );
  const lines = first.stdout.split("\n");
  const rest = lines.pop();
  if (rest !== "" && !first.mayCut) fail("the last line is cut");
  const before = await keptOf(seed, given.env);
  if (before === undefined) {
    // It was stopped before the run was created; any other end is not of this fault.
    if (!STOPPED.has(first.code)) fail("no run is stored");
    if (existsSync(file)) fail("effects of a run that is not stored");
    return problems;
  }
  const last = lines.length > 0 ? parseEvent(lines.at(-1)) : undefined;
  const isParting =
    last?.kind === "summary" && last.error !== undefined && before.lines.at(-1) !== lines.at(-1);
  const shown = isParting ? lines.slice(0, -1) : lines;
  shown.forEach((line, at) => {
    if (line !== before.lines[at] && problems.length < 3)
      fail(`line ${at + 1} of stdout is not in the stored log`);
  });
  const hasEnded = before.lines.at(-1)?.includes('"kind":"summary"') === true;
  if (first.code === 0 && !first.mayMiss && lines.at(-1) !== before.lines.at(-1))
    fail("exit 0 without the stored summary");
  if (first.code === 0 && !hasEnded) fail("exit 0, and the run has not ended");
  for (const text of first.wants(hasEnded)) fail(text);
  const had = effectsOf(file);
  const doneItems = before.lines
    .map((line) => /"kind":"node\.succeeded".*"node":"all\[(\d+)\]\/note"/.exec(line)?.[1])
    .filter((item) => item !== undefined);
  const resumed = hasEnded ? undefined : await inside(given, ["resume", before.runId, "--json"]);
  if (resumed !== undefined && resumed.code !== 0) {
    fail(
      `resume ended with ${resumed.code}: ${resumed.stderr.slice(-300)} ${resumed.stdout.slice(-300)}`,
    );
    return problems;
  }
  const after = await keptOf(seed, given.env);
  if (resumed !== undefined && resumed.stdout !== `${after.lines.join("\n")}\n`)
    fail("resume did not show the whole log");
  const broken = checkLog(after.lines.map((line) => parseEvent(line)));
  if (broken.length > 0) fail(`the log breaks ${JSON.stringify(broken[0])}`);
  const whole = effectsOf(file);
  for (let item = 0; item < ITEMS; item += 1) {
    const times = whole.get(String(item)) ?? 0;
    if (times === 0) fail(`item ${item} is lost`);
    if (times > 2) fail(`item ${item} happened ${times} times`);
  }
  for (const item of doneItems) {
    if (whole.get(item) !== had.get(item) || whole.get(item) !== 1)
      fail(`item ${item} had ended and was repeated`);
  }
  const twice = [...whole.values()].filter((times) => times > 1).length;
  if (twice > AT_ONCE) fail(`${twice} items were repeated, and ${AT_ONCE} work at once`);
  return problems;
}

/** The stored log of a case. */
async function keptOf(seed, env) {
  if (!existsSync(join(env.MILLRACE_HOME, "millrace.db"))) return undefined;
  const store = await openStore({ dir: env.MILLRACE_HOME, readonly: true });
  try {
    const { items } = await store.runs.list({ tags: { case: String(seed) }, limit: 2 });
    if (items.length === 0) return undefined;
    const [{ runId }] = items;
    const lines = [];
    for await (const page of store.journal.read(runId, 0)) {
      for (const { line } of page) lines.push(Buffer.from(line).toString("utf8"));
    }
    return { runId, lines };
  } finally {
    await store.close();
  }
}

function effectsOf(file) {
  const found = new Map();
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  for (const item of text.split("\n").slice(0, -1)) found.set(item, (found.get(item) ?? 0) + 1);
  return found;
}

/** Wishes of a case that was to be paused, whose run had perhaps ended before. */
const paused = (told, code) => (hasEnded) => {
  // A process that exits already is killed by the signal.
  if (hasEnded)
    return told.code === 0 || told.signal === "SIGTERM"
      ? []
      : ["the run has ended, and the exit code is not 0"];
  const wants = [];
  if (told.code !== code) wants.push(`the exit code is not ${code}`);
  if (!/^next: millrace resume run_\w+$/m.test(told.stderr)) wants.push("stderr has no next:");
  return wants;
};

const INJECT = {
  sigint: (given) => signalled(given, "sigint", 130),
  sigterm: (given) => signalled(given, "sigterm", 143),
  async "closed pipe"(given) {
    const told = await inside(given, given.words, { breaksAt: bytesOf(given), code: "EPIPE" });
    // A reader that has left is told nothing; whether the run could end depends on when it left.
    return {
      ...told,
      mayCut: true,
      wants: (hasEnded) => {
        if (hasEnded)
          return told.code === 0 || told.code === 1 ? [] : ["the exit code is neither 0 nor 1"];
        return paused(told, 1)(false);
      },
    };
  },
  async "full stdout"(given) {
    const told = await inside(given, given.words, { breaksAt: bytesOf(given), code: "ENOSPC" });
    return {
      ...told,
      mayCut: true,
      wants() {
        if (told.code === 0 && !told.isBroken) return [];
        const wants = told.code === 74 ? [] : ["the exit code is not 74"];
        if (!told.stderr.includes("cannot write to stdout"))
          wants.push("stderr does not say what was lost");
        return wants;
      },
    };
  },
  "full disk, then room": (given) => filled(given, false),
  "full disk, then SIGINT": (given) => filled(given, true),
  async SIGKILL(given) {
    const told = await outside(given, (child) => child.kill("SIGKILL"));
    return {
      ...told,
      mayCut: true,
      wants: (hasEnded) => (hasEnded || told.signal === "SIGKILL" ? [] : ["it was not killed"]),
    };
  },
  async "second SIGINT"(given) {
    const gapMs = given.random() * 30;
    const told = await outside(given, (child) => {
      child.kill("SIGINT");
      setTimeout(() => child.kill("SIGINT"), gapMs);
    });
    return {
      ...told,
      mayCut: true,
      // A process that ends already is killed by the signal, which a shell shows as 130 too.
      wants: (hasEnded) =>
        hasEnded || told.code === 130 || told.signal === "SIGINT"
          ? []
          : ["the exit code is not 130"],
    };
  },
  async "closed pipe of a process"(given) {
    const told = await outside(given, (child) => child.stdout.destroy());
    return {
      ...told,
      mayCut: true,
      mayMiss: true, // the system took what nobody has read
      wants: (hasEnded) => (hasEnded ? [] : paused(told, 1)(false)),
    };
  },
  async "SIGTERM of a process"(given) {
    const told = await outside(given, (child) => child.kill("SIGTERM"));
    return { ...told, mayCut: false, wants: paused(told, 143) };
  },
};

/** Somewhere in what a run writes, or behind it. */
function bytesOf({ random }) {
  return Math.floor(random() * 14_000);
}

async function signalled(given, reason, code) {
  const stop = new AbortController();
  const at = 1 + Math.floor(given.random() * 65);
  const lateMs = given.random() * 4;
  const told = await inside(given, given.words, {
    signal: stop.signal,
    onLines: (lines) => {
      if (lines >= at) setTimeout(() => stop.abort(reason), lateMs);
    },
  });
  return { ...told, mayCut: false, wants: paused(told, code) };
}

/** The disk of the store is full from some event on, and is kept full for a while. */
async function filled(given, isSignalled) {
  const { home, random } = given;
  const filler = join(home, "filler");
  const stop = new AbortController();
  const at = 1 + Math.floor(random() * 50);
  const fullMs = 20 + random() * 400;
  let filling;
  const room = () => {
    clearInterval(filling);
    rmSync(filler, { force: true });
  };
  const told = await inside(given, given.words, {
    signal: stop.signal,
    onLines: (lines) => {
      if (lines < at || filling !== undefined) return;
      fill(home, filler);
      filling = setInterval(() => fill(home, filler), 2); // what the reserve gives back too
      setTimeout(() => {
        if (isSignalled) stop.abort("sigint");
        else room();
      }, fullMs);
    },
  });
  room();
  const wants = isSignalled
    ? paused(told, 130)
    : () => (told.code === 0 ? [] : ["the exit code is not 0"]);
  return { ...told, mayCut: false, wants };
}

function fill(home, filler) {
  const { bavail, bsize } = statfsSync(home);
  if (bavail === 0) return;
  const file = openSync(filler, "a");
  try {
    writeSync(file, Buffer.alloc(bavail * bsize));
  } catch {
    // it is full
  } finally {
    closeSync(file);
  }
}

/** The command in this process. Stdout breaks after `breaksAt` bytes with `code`. */
async function inside(
  { main, cwd, env },
  words,
  { signal, breaksAt, code, onLines = () => {} } = {},
) {
  let stdout = "";
  let stderr = "";
  let lines = 0;
  let isBroken = false;
  const out = new Writable({
    write(chunk, _encoding, done) {
      const room = breaksAt === undefined ? chunk.length : breaksAt - stdout.length;
      const taken = chunk.subarray(0, Math.max(0, room)).toString("latin1"); // a log of ASCII
      stdout += taken;
      lines += taken.split("\n").length - 1;
      onLines(lines);
      isBroken ||= taken.length < chunk.length;
      setImmediate(() => done(isBroken ? Object.assign(new Error(code), { code }) : null));
    },
  });
  const err = new Writable({
    write(chunk, _encoding, done) {
      stderr += chunk;
      done();
    },
  });
  const exit = await main(words, {
    stdin: Readable.from([]),
    stdout: out,
    stderr: err,
    env,
    cwd,
    isTTY: { stdin: false, stdout: false, stderr: false },
    size: () => ({ columns: 80, rows: 24 }),
    now: () => Date.now(),
    fetch,
    signal: signal ?? new AbortController().signal,
  });
  return { code: exit, signal: null, stdout, stderr, isBroken };
}

/** The command in a process of its own, disturbed after some lines and some milliseconds. */
function outside({ bin, words, cwd, env, random }, disturb) {
  const at = Math.floor(random() * 60); // 0: before it has said anything
  const lateMs = at === 0 ? random() * 500 : random() * 10;
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [bin, ...words], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    let isDue = false;
    const look = () => {
      if (isDue || stdout.split("\n").length - 1 < at) return;
      isDue = true;
      setTimeout(() => disturb(child), lateMs);
    };
    child.stdout.on("data", (text) => {
      stdout += text;
      look();
    });
    child.stderr.on("data", (text) => {
      stderr += text;
    });
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
    look();
  });
}

async function within(ms, work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it hangs for ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function mount(dir) {
  const size = `size=${DISK_MEGABYTES}m`;
  execFileSync("mount", ["-t", "tmpfs", "-o", size, "tmpfs", dir], SYSTEM);
}

/** Whether a disk of a chosen size can be had here. */
export function mayMount(dir) {
  if (process.platform !== "linux" || process.getuid?.() !== 0 || !existsSync(dir)) return false;
  try {
    mount(dir);
    execFileSync("umount", ["-l", dir], SYSTEM);
    return true;
  } catch {
    return false;
  }
}
