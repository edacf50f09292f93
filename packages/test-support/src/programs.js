/**
 * Programs of the machine, for tests and scripts. Plain JavaScript without dependencies: scripts import it before an install.
 *   P1  A test sees a PATH of node, npm, sh and coreutils only, on every machine: see `bareFolder`.
 *   P2  Any other program is in OUTSIDE, and a test that needs it says so (`testWith`, `describeWith`).
 */
import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Each program that some test needs beside those of a bare machine: the names under which machines have it. */
export const OUTSIDE = {
  bash: ["bash"],
  caddy: ["caddy"],
  chromium: ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"],
  "code-server": ["code-server"],
  curl: ["curl"],
  "dbus-daemon": ["dbus-daemon"],
  fish: ["fish"],
  gdbus: ["gdbus"],
  git: ["git"],
  "gnome-keyring-daemon": ["gnome-keyring-daemon"],
  grep: ["grep"],
  ip: ["ip"],
  "mcp-inspector": ["mcp-inspector"],
  mount: ["mount"],
  nginx: ["nginx"],
  nvim: ["nvim"],
  postgres: ["postgres"],
  prism: ["prism"],
  promtool: ["promtool"],
  "restate-server": ["restate-server"],
  "systemd-analyze": ["systemd-analyze"],
  tmux: ["tmux"],
  unshare: ["unshare"],
  workerd: ["workerd"],
  zsh: ["zsh"],
};

/** @typedef {keyof typeof OUTSIDE} Program */

/** What "node, npm and coreutils" means: the programs of coreutils that tests and npm use, and the shell that npm needs. */
const BARE = [
  ...["node", "npm", "npx", "sh"],
  ...["[", "base64", "basename", "cat", "chmod", "cp", "cut", "date", "dirname", "echo", "env"],
  ...["expr", "false", "head", "id", "install", "ln", "ls", "mkdir", "mkfifo", "mktemp", "mv"],
  ...["nohup", "od", "printf", "pwd", "readlink", "realpath", "rm", "rmdir", "seq", "sleep"],
  ...["sort", "stat", "stty", "tail", "tee", "test", "timeout", "touch", "tr", "true", "tty"],
  ...["uname", "uniq", "wc", "yes"],
];

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/**
 * The file of the first of these names on a path; undefined when there is none.
 * @param {readonly string[]} names
 * @param {string} path
 * @returns {string | undefined}
 */
export function findProgram(names, path) {
  const folders = path.split(delimiter).filter((folder) => folder !== "");
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

/**
 * Where an outside program is; undefined where this machine has none.
 * @param {Program} program
 */
export function fileOf(program) {
  const path = [machinePath(), ...(program === "postgres" ? postgresFolders() : [])];
  return findProgram(OUTSIDE[program], path.join(delimiter));
}

/** Where Debian has the programs of PostgreSQL, which are on no PATH; the newest version first. */
function postgresFolders() {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root) : [];
  return versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, "bin"));
}

/** The PATH of the machine, which `process.env.PATH` is no more after `useBarePath`. */
export const machinePath = () => process.env["MACHINE_PATH"] ?? process.env["PATH"] ?? "";

/** Leaves this process with the PATH of a bare machine. The setup file of all tests calls it. */
export function useBarePath() {
  if (process.platform === "win32") return; // links need rights there
  process.env["MACHINE_PATH"] = machinePath();
  process.env["PATH"] = bareFolder(machinePath());
}

/**
 * A folder of links to what a bare machine has, out of this path. It is made once for each path, under `node_modules`.
 * @param {string} path
 * @returns {string}
 */
export function bareFolder(path) {
  return linkFolder(BARE.map((name) => [name, findProgram([name], path)]));
}

/**
 * A folder that holds links with these names to these files; the same folder for the same links.
 * @param {readonly (readonly [name: string, file: string | undefined])[]} links
 * @returns {string}
 */
export function linkFolder(links) {
  const found = links.filter(([, file]) => file !== undefined);
  const key = createHash("sha256").update(JSON.stringify(found)).digest("hex").slice(0, 16);
  const folder = join(ROOT, "node_modules", ".test-path", key);
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  for (const [name, file] of found) symlinkSync(file ?? "", join(made, name));
  try {
    renameSync(made, folder);
  } catch (error) {
    rmSync(made, { recursive: true });
    if (!existsSync(folder)) throw error; // else another process made the same folder in the meantime
  }
  return folder;
}

/** @param {string} file */
function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
