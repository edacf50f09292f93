// Writes src/engine/engine.lock.json: every package that the engine needs, with digest, length and place, as npm resolves them.
// Optional dependencies are left out, except the one package of each platform with its native parts. Nothing of what is fetched
// is run. To be reviewed like code: what it names is what machines will run.
// Usage: node scripts/engine-lock.mjs [--version 3.22.1] [--cache <folder>]   The folder keeps the tarballs.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const ENGINE = "node-llama-cpp";
const SCOPE = "@node-llama-cpp/";
const PLATFORMS = [
  "linux-x64",
  "linux-arm64",
  "mac-arm64-metal",
  "mac-x64",
  "win-x64",
  "win-arm64",
];
const OUT = new URL("../src/engine/engine.lock.json", import.meta.url);

const { values } = parseArgs({
  options: { version: { type: "string", default: "3.22.1" }, cache: { type: "string" } },
});
const folder = mkdtempSync(join(tmpdir(), "engine-lock-"));
const cache = values.cache ?? join(folder, "cache");

function npm(...args) {
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--cache", cache];
  quiet.push("--no-omit-lockfile-registry-resolved");
  execFileSync("npm", [...args, ...quiet], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
}

/** Bytes of each tarball in the cache of npm, by URL. */
function lengths() {
  const index = join(cache, "_cacache", "index-v5");
  const found = new Map();
  for (const entry of readdirSync(index, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const text = readFileSync(join(entry.parentPath ?? entry.path, entry.name), "utf8");
    for (const line of text.split("\n").filter(Boolean)) {
      const { key, size } = JSON.parse(line.slice(line.indexOf("\t") + 1));
      const url = key.slice(key.lastIndexOf("https:"));
      if (url.endsWith(".tgz")) found.set(url, size);
    }
  }
  return found;
}

try {
  const manifest = { private: true, dependencies: { [ENGINE]: values.version } };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  npm("install", "--package-lock-only");
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  const there = PLATFORMS.filter((platform) => packages[`node_modules/${SCOPE}${platform}`]);
  const missing = PLATFORMS.filter((platform) => !there.includes(platform));
  if (missing.length > 0) process.stderr.write(`not in the registry: ${missing.join(", ")}\n`);
  npm("install", "--omit=optional", "--omit=peer", "--no-package-lock");
  for (const platform of there) npm("cache", "add", `${SCOPE}${platform}@${values.version}`);
  const bytesOf = lengths();
  const entry = (path) => {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const { version, integrity, resolved, hasInstallScript } = packages[path];
    const bytes = bytesOf.get(resolved);
    if (!integrity?.startsWith("sha512-") || bytes === undefined)
      throw new Error(`${path}: no digest`);
    if (hasInstallScript && name !== ENGINE)
      process.stderr.write(`${name} has an install script\n`);
    return { name, version, integrity, bytes, path };
  };
  const needed = Object.keys(packages).filter((path) => {
    const { optional, peer, dev } = packages[path];
    return path !== "" && !optional && !peer && !dev;
  });
  const lock = {
    version: values.version,
    packages: needed.sort().map(entry),
    platforms: Object.fromEntries(
      there.map((platform) => [platform, entry(`node_modules/${SCOPE}${platform}`)]),
    ),
  };
  writeFileSync(OUT, `${JSON.stringify(lock, null, 2)}\n`);
  const sum = (list) => (list.reduce((all, { bytes }) => all + bytes, 0) / 1e6).toFixed(1);
  process.stdout.write(`${needed.length} packages, ${sum(lock.packages)} MB; `);
  process.stdout.write(
    `${there.map((name) => `${name} ${sum([lock.platforms[name]])} MB`).join(", ")}\n`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
