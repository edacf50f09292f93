// Entry of every root script: needs only node and npm on a fresh clone.
//   1. finds the pinned pnpm (package.json#packageManager), through npx when absent;
//   2. installs when the lockfile is not the one last installed;
//   3. runs the steps of the named job; words after the job's name go to its last step.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const windows = process.platform === "win32";
const [pin] = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).packageManager.split(
  "+",
);
const env = {
  ...process.env,
  // Local tools first; turbo starts package scripts through the pnpm found here.
  PATH: [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter),
  DO_NOT_TRACK: "1",
  TURBO_TELEMETRY_DISABLED: "1",
  TURBO_NO_UPDATE_NOTIFIER: "1",
};

const build = ["turbo", "run", "build", "--output-logs=errors-only"];
// Through turbo, so that a repeat on unchanged files answers with what the last run said.
const tests = ["turbo", "run", "//#test:all", "--log-prefix=none", "--"];
const gate = [
  ["biome", "ci", "."],
  ["tsc", "-p", "tsconfig.json"],
  ["node", "scripts/layers.mjs"],
  ["knip"],
  ["sherif"],
  ["turbo", "run", "build", "check:package"],
];
const jobs = {
  demo: [build, ["node", "scripts/demo.mjs"]],
  bench: [build, ["node", "scripts/bench.mjs"]],
  test: [tests],
  gate,
  check: [...gate, [...tests, "--coverage"]],
  format: [["biome", "check", "--write", "."]],
  nodes: [["node", "scripts/nodes.mjs"]],
  fuzz: [["node", "scripts/fuzz.mjs"]],
  chaos: [build, ["node", "bench/durable/chaos.js"]],
  record: [build, ["node", "scripts/record-answers.mjs"]],
};

function exec(command, args) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    env,
    stdio: "inherit",
    shell: windows,
  });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
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
  const lock = readFileSync(join(root, "pnpm-lock.yaml"));
  const wanted = createHash("sha256").update(lock).digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  const [command, ...args] = pnpm();
  exec(command, [...args, "install", "--frozen-lockfile", "--prefer-offline"]);
  writeFileSync(stamp, wanted);
}

const [name = "test", ...rest] = process.argv.slice(2);
if (!Object.hasOwn(jobs, name)) {
  process.stderr.write(`unknown job "${name}"; known: ${Object.keys(jobs).join(", ")}\n`);
  process.exit(2);
}
install();
const steps = jobs[name];
for (const [i, [bin, ...args]] of steps.entries()) {
  exec(bin, i === steps.length - 1 ? [...args, ...rest] : args);
}
