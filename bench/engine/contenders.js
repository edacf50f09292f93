// Who is timed. The floor, ours, and two peers that are installed with the workspace; the others are in peers/, a folder
// outside the workspace, and come only when they are asked for.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const FLOOR = "floor";
export const OURS = "millrace";
export const NEAR_PEERS = ["effect", "p-graph"];
/** File in peers/ and package of each. */
export const FAR_PEERS = {
  flowed: "flowed",
  xstate: "xstate",
  mastra: "@mastra/core",
  langgraph: "@langchain/langgraph",
  rivet: "@ironclad/rivet-core",
  llamaindex: "@llamaindex/workflow-core",
};
const INSTALL_MS = 600_000; // 400 MB over a slow line
/** Pins the dependencies of the pinned peers, too: npm takes no release of this day or later. */
const BEFORE = "2026-11-19";
const NPM_FLAGS = [
  "--no-package-lock",
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--loglevel=error",
];

const folder = fileURLToPath(new URL("peers/", import.meta.url));

/** Where the implementation of a contender is. */
export function fileOf(name) {
  return new URL(`${name in FAR_PEERS ? "peers" : "implementations"}/${name}.js`, import.meta.url)
    .href;
}

/** Installs the far peers as pinned, once; install scripts never run. Throws when npm fails. */
export function installPeers() {
  const pinned = JSON.parse(readFileSync(`${folder}package.json`, "utf8")).dependencies;
  const isThere = Object.values(FAR_PEERS).every((name) => {
    const manifest = `${folder}node_modules/${name}/package.json`;
    if (!existsSync(manifest)) return false;
    return JSON.parse(readFileSync(manifest, "utf8")).version === pinned[name];
  });
  if (isThere) return;
  process.stderr.write("installing the peers of bench/engine/peers\n");
  const { status } = spawnSync("npm", ["install", `--before=${BEFORE}`, ...NPM_FLAGS], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
    timeout: INSTALL_MS,
  });
  if (status !== 0) throw new Error("npm install of bench/engine/peers failed");
}
