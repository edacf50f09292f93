/** The package manager of a project, with the scripts of packages switched off. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CommandIo } from "../../argv/spec.ts";
import { CliError, usage } from "../../errors.ts";
import { clean, cleanLines } from "../../output/text.ts";

export type PackageManager = "npm" | "pnpm" | "yarn" | "bun";

const LOCKS: readonly (readonly [file: string, manager: PackageManager])[] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["package-lock.json", "npm"],
];

/** That of the nearest lock file upward; npm where there is none. */
function managerOf(project: string): PackageManager {
  for (let at = project; ; at = dirname(at)) {
    const found = LOCKS.find(([file]) => existsSync(join(at, file)));
    if (found !== undefined) return found[1];
    if (at === dirname(at) || existsSync(join(at, ".git"))) return "npm";
  }
}

/** Arguments of each package manager. Scripts of a package do not run, because they were not reviewed. */
const WORDS: {
  readonly [M in PackageManager]: {
    add(project: string): readonly string[];
    remove(project: string): readonly string[];
  };
} = {
  npm: {
    add: (project) => [
      ...["install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact"],
      ...["--prefix", project],
    ],
    remove: (project) => ["uninstall", "--ignore-scripts", "--no-audit", "--prefix", project],
  },
  pnpm: {
    add: () => ["add", "--ignore-scripts", "--save-exact"],
    remove: () => ["remove", "--config.ignore-scripts=true"],
  },
  yarn: {
    add: () => ["add", "--ignore-scripts", "--exact"],
    remove: () => ["remove", "--ignore-scripts"],
  },
  bun: {
    add: () => ["add", "--ignore-scripts", "--exact"],
    remove: () => ["remove", "--ignore-scripts"],
  },
};

/** Installs a package. `spec`: its name, with a version or without, or the path of a tarball. */
export async function install(project: string, spec: string, io: CommandIo): Promise<void> {
  const manager = managerOf(project);
  await call(manager, [...WORDS[manager].add(project), spec], project, io);
}

export async function uninstall(project: string, name: string, io: CommandIo): Promise<void> {
  const manager = managerOf(project);
  await call(manager, [...WORDS[manager].remove(project), name], project, io);
}

/** Packs a folder as npm does and answers the name of the file in it. */
export async function packFolder(folder: string, io: CommandIo): Promise<string> {
  const text = await call("npm", ["pack", "--ignore-scripts", "--json"], folder, io);
  const [packed] = JSON.parse(text.slice(text.indexOf("["))) as { filename?: string }[];
  if (packed?.filename === undefined) throw failed("npm", "it named no file");
  return packed.filename.replace(/^@/, "").replaceAll("/", "-");
}

const MAX_TOLD = 2_000; // characters of what a manager says when it fails

async function call(
  manager: string,
  words: readonly string[],
  cwd: string,
  io: CommandIo,
): Promise<string> {
  const isWindows = process.platform === "win32";
  const odd = isWindows && words.find((word) => !/^[\w@./\\:~^*+=-]+$/.test(word));
  if (odd) throw usage(`"${clean(odd)}" cannot be given to ${manager} on Windows`);
  const child = spawn(isWindows ? `${manager}.cmd` : manager, words, {
    cwd,
    env: { ...io.env },
    stdio: ["ignore", "pipe", "pipe"],
    shell: isWindows,
    signal: io.signal,
  });
  let out = "";
  let told = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    told = (told + text).slice(-MAX_TOLD);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", (error: NodeJS.ErrnoException) => {
      reject(failed(manager, error.code === "ENOENT" ? "it is not installed" : error.message));
    });
    child.on("close", resolve);
  });
  if (code === 0) return out;
  throw failed(manager, told.trim() || out.slice(-MAX_TOLD).trim());
}

/** One line for a program: the first that speaks of an error. People read all of them. */
function failed(manager: string, why: string): CliError {
  const lines = cleanLines(why.trim());
  const first = lines.find((line) => /\berr(?:or)?\b/i.test(line)) ?? lines[0] ?? "";
  const frame = lines.length > 1 ? `  ${lines.join("\n  ")}\n` : "";
  return new CliError("unavailable", `${manager} failed: ${first.trim()}`, { frame });
}

/** Integrity of an installed package as the lock of its manager has it; "" where it says none. */
export async function integrityOf(project: string, name: string, version: string): Promise<string> {
  const read = (file: string) => readFile(join(project, file), "utf8").catch(() => "");
  const npm = await read("node_modules/.package-lock.json");
  if (npm !== "") {
    const { packages = {} } = JSON.parse(npm) as {
      packages?: { [path: string]: { integrity?: string } };
    };
    const found = packages[`node_modules/${name}`]?.integrity;
    if (found !== undefined) return found;
  }
  const text =
    (await read("pnpm-lock.yaml")) || (await read("yarn.lock")) || (await read("bun.lock"));
  const at = text.search(new RegExp(`${escapeRegExp(name)}@[^\\n]*${escapeRegExp(version)}`));
  return at < 0 ? "" : (/sha512-[A-Za-z0-9+/=]+/.exec(text.slice(at, at + 2_000))?.[0] ?? "");
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
