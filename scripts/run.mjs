// Entry of every root script: needs only node and npm on a fresh clone.
//   1. finds the pinned pnpm (package.json#packageManager), through npx when absent;
//   2. installs when the lockfile or the workspace's settings are not those last installed;
//   3. runs the steps of the named job; words after the job's name go to its last step;
//   4. runs test files that failed beside others once more, alone: scripts/retry-tests.mjs;
//   5. after tests, says what failed, and how many were skipped and why.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { fileOf, OUTSIDE } from "../packages/test-support/src/programs.js";
import { RETRIES, reportFiles } from "./closing-line.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const windows = process.platform === "win32";
const [pin] = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).packageManager.split(
  "+",
);
const env = {
  ...process.env,
  // Local tools first.
  PATH: [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter),
  DO_NOT_TRACK: "1",
  TURBO_TELEMETRY_DISABLED: "1",
  TURBO_NO_UPDATE_NOTIFIER: "1",
  // A machine that has another program since the last run has other tests to run.
  TEST_PROGRAMS: Object.keys(OUTSIDE).filter(fileOf).join(" "),
};
// Turbo starts the scripts of packages through the pnpm found here, which no shell of Windows would start.
const turboEnv = windows
  ? env
  : { ...env, PATH: [join(root, "scripts", "bin"), env.PATH].join(delimiter) };

const build = ["turbo", "run", "build", "--output-logs=hash-only"];
// Through turbo: the tests of a package run again when it, or what it needs, has changed; else turbo repeats what the last run said.
// All is built before, so that no build waits for a place beside long tests, and the longest ones, which need most, can begin.
const tests = [
  ...["turbo", "run", "test", "//#test:repository", "--concurrency=4", "--continue"],
  ...["--log-prefix=none", "--log-order=grouped", "--"],
];
const gate = [
  ["biome", "ci", "."],
  ["tsc", "-p", "tsconfig.json", "--singleThreaded"],
  ["tsc", "-p", "packages/codemirror/tsconfig.json", "--singleThreaded"],
  ["tsc", "-p", "packages/studio/tsconfig.json", "--singleThreaded"],
  ["node", "scripts/layers.mjs"],
  ["knip"],
  ["sherif"],
  ["turbo", "run", "build", "check:package"],
];
const jobs = {
  build: [build],
  demo: [
    [...build, "--filter=@millrace/cli"],
    ["node", "scripts/demo.mjs"],
  ],
  bench: [build, ["node", "scripts/bench.mjs"]],
  test: [build, tests],
  gate,
  check: [...gate, ["vitest", "run", "--coverage"]],
  format: [["biome", "check", "--write", "."]],
  nodes: [["node", "scripts/nodes.mjs"]],
  fuzz: [["node", "scripts/fuzz.mjs"]],
  chaos: [build, ["node", "bench/durable/chaos.js"]],
  faults: [build, ["node", "bench/durable/inject.js"]],
  record: [build, ["node", "scripts/record-answers.mjs"]],
};

function exec(command, args) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    env: command === "turbo" ? turboEnv : env,
    stdio: "inherit",
    shell: windows,
  });
  if (error) throw error;
  return status ?? 1;
}

/** Runs turbo and says what it builds, which is nothing when all is built; what it says itself is shown when it fails. */
async function execBuild([command, ...args]) {
  const child = spawn(command, args, {
    cwd: root,
    env: turboEnv,
    stdio: ["ignore", "pipe", "pipe"],
    shell: windows,
  });
  const lines = [];
  const ended = once(child, "close");
  child.stderr.on("data", (text) => lines.push(String(text).trimEnd()));
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    const [, name] = /^(\S+):build: cache miss/.exec(line) ?? [];
    if (name !== undefined) process.stdout.write(`building ${name}\n`);
  }
  const [status] = await ended;
  if (status !== 0) process.stderr.write(`${lines.join("\n")}\n`);
  return status ?? 1;
}

/** The pinned pnpm as a command line: the installed one, else the same version through npx. */
function pnpm() {
  const found = spawnSync("pnpm", ["--version"], {
    cwd: root,
    env,
    encoding: "utf8",
    shell: windows,
  });
  return found.status === 0 && `pnpm@${found.stdout.trim()}` === pin
    ? ["pnpm"]
    : ["npx", "--yes", pin];
}

function install() {
  const stamp = join(root, "node_modules", ".millrace-installed");
  const hash = createHash("sha256");
  for (const name of ["pnpm-lock.yaml", "pnpm-workspace.yaml"]) {
    hash.update(readFileSync(join(root, name)));
  }
  const wanted = hash.digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  const [command, ...args] = pnpm();
  const status = exec(command, [...args, "install", "--frozen-lockfile", "--prefer-offline"]);
  if (status !== 0) process.exit(status);
  writeFileSync(stamp, wanted);
}

const [name = "test", ...rest] = process.argv.slice(2);
if (!Object.hasOwn(jobs, name)) {
  process.stderr.write(`unknown job "${name}"; known: ${Object.keys(jobs).join(", ")}\n`);
  process.exit(2);
}
if (name === "check") env.MILLRACE_TESTS ??= "all"; // what is not tried is not covered
install();
const steps = jobs[name];
const hasTests = ["test", "check"].includes(name);
if (hasTests) for (const file of ["tests", RETRIES].flatMap(reportFiles)) rmSync(file);
let status = 0;
for (const [i, step] of steps.entries()) {
  const isLast = i === steps.length - 1;
  const words = isLast ? [...step, ...rest] : step;
  status = step[2] === "build" && !isLast ? await execBuild(words) : exec(words[0], words.slice(1));
  if (status !== 0) break;
}
if (status !== 0 && reportFiles("tests").length > 0 && name === "test")
  status = exec("node", ["scripts/retry-tests.mjs"]);
if (hasTests && reportFiles("tests").length > 0) {
  const closing = exec("node", ["scripts/closing-line.mjs", "0", "tests"]);
  status ||= closing;
}
process.exitCode = status;
