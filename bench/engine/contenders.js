// Who is timed. The floor, ours, and two peers that are installed with the workspace; the others are in peers/, a folder
// with a lock file of its own, and come only when they are asked for.
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

const folder = fileURLToPath(new URL("peers/", import.meta.url));

/** Where the implementation of a contender is. */
export function fileOf(name) {
  return new URL(`${name in FAR_PEERS ? "peers" : "implementations"}/${name}.js`, import.meta.url)
    .href;
}

/** Installs the far peers as locked, once; install scripts never run. Throws when npm fails. */
export function installPeers() {
  const lock = readFileSync(`${folder}package-lock.json`, "utf8");
  const versions = JSON.parse(lock).packages;
  const isThere = Object.values(FAR_PEERS).every((name) => {
    const manifest = `${folder}node_modules/${name}/package.json`;
    if (!existsSync(manifest)) return false;
    const { version } = JSON.parse(readFileSync(manifest, "utf8"));
    return version === versions[`node_modules/${name}`].version;
  });
  if (isThere) return;
  process.stderr.write("installing the peers of bench/engine/peers\n");
  const { status } = spawnSync(
    "npm",
    ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
    { cwd: folder, stdio: ["ignore", "inherit", "inherit"], timeout: INSTALL_MS },
  );
  if (status !== 0) throw new Error("npm ci of bench/engine/peers failed");
}
