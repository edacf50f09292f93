// Publishes every package whose version the registry does not have yet, each after those that it needs, with provenance.
// `npm run version-packages` comes before: it makes versions and changelogs from the changesets, to be read and committed.
// Usage: node scripts/release.mjs [--dry-run] [--registry URL] [--only NAME]...
//   --dry-run   publishes for real, to a registry on loopback that is gone afterwards, or to the one of --registry
//   --only      this package and those that it needs
// A release that broke off goes on when it is called again.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { packageFolders } from "./package-folders.mjs";
import { serveRegistry } from "./registry.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const BIN = join(root, "node_modules", ".bin");
const NPM = "https://registry.npmjs.org/";
const LOOPBACK = /^http:\/\/127\.0\.0\.1:\d+\/$/;

/**
 * Why nothing may be published now, one sentence each.
 * @param {{ status: string, changesets: readonly string[], env: Record<string, string | undefined> }} state `status`: what
 *   `git status --porcelain` says
 * @returns {string[]}
 */
export function refusals({ status, changesets, env }) {
  const changed = status.split("\n").filter((line) => line !== "");
  const hasIdentity = env.ACTIONS_ID_TOKEN_REQUEST_URL || env.SIGSTORE_ID_TOKEN;
  return [
    ...(changed.length > 0
      ? [`${changed.length} files are not committed, such as ${changed[0].slice(3)}`]
      : []),
    ...(changesets.length > 0
      ? [
          `${changesets.length} changesets are no version yet: npm run version-packages, then commit`,
        ]
      : []),
    ...(hasIdentity
      ? []
      : [
          "provenance needs the identity of a job: in GitHub Actions the permission id-token: write, in GitLab CI SIGSTORE_ID_TOKEN",
        ]),
  ];
}

/**
 * Packages in the order in which they are published: each after those that it needs.
 * @param {readonly Manifest[]} manifests
 * @param {readonly string[]} only these and what they need; empty: all
 * @returns {Manifest[]}
 */
export function publishOrder(manifests, only = []) {
  const byName = new Map(manifests.map((manifest) => [manifest.name, manifest]));
  const order = new Set();
  const open = new Set();
  function add(name) {
    const manifest = byName.get(name);
    if (manifest === undefined || order.has(manifest)) return;
    if (open.has(name)) throw new Error(`${[...open].join(" needs ")} needs ${name}`);
    open.add(name);
    for (const other of Object.keys(manifest.dependencies ?? {}).sort()) add(other);
    open.delete(name);
    order.add(manifest);
  }
  for (const name of only.length > 0 ? only : [...byName.keys()].sort()) {
    if (!byName.has(name)) throw new Error(`there is no package ${name} to publish`);
    add(name);
  }
  return [...order];
}

/** @typedef {{ name: string, version: string, private?: boolean, dependencies?: Record<string, string> }} Manifest */

/**
 * What is published of this repository.
 * @returns {Manifest[]}
 */
export function publishedManifests() {
  return packageFolders(root)
    .map((folder) => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")))
    .filter((manifest) => manifest.private !== true);
}

/** Its standard output. The registry of a dry run answers meanwhile. */
async function run(command, args, more = {}) {
  const env = { ...process.env, PATH: [BIN, process.env.PATH].join(delimiter), ...more };
  const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += String(chunk);
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${command} ${args[0]} ended with ${code}: ${output}`);
  return output;
}

async function isPublished({ name, version }, registry) {
  const answer = await fetch(new URL(encodeURIComponent(name), registry));
  if (answer.status === 404) return false;
  if (!answer.ok)
    throw new Error(`${registry} answers ${answer.status} to a question about ${name}`);
  const { versions = {} } = await answer.json();
  return Object.hasOwn(versions, version);
}

async function publishAll(order, { registry, isDry, say }) {
  const folder = mkdtempSync(join(tmpdir(), "millrace-release-"));
  try {
    const due = [];
    for (const manifest of order) if (!(await isPublished(manifest, registry))) due.push(manifest);
    if (due.length === 0) return say("every version is published already");
    const filters = due.flatMap(({ name }) => ["--filter", name]);
    // What is packed is `dist`, which may be older than its sources; after `npm run release` this is a hit of the cache.
    if (!isDry) await run("turbo", ["run", "build", ...filters]);
    await run("pnpm", ["-r", ...filters, "pack", "--pack-destination", folder]);
    // A registry of one's own wants a token of any kind; that of npm takes the identity of the job, or the token of its .npmrc.
    const npmrc = join(folder, "npmrc");
    if (isDry) writeFileSync(npmrc, `${registry.replace("http:", "")}:_authToken=none\n`);
    for (const { name, version } of due) {
      const tarball = join(folder, `${name.slice(1).replace("/", "-")}-${version}.tgz`);
      const provenance = isDry ? "--no-provenance" : "--provenance";
      // The registry of a scope, as an .npmrc may have one, wins over --registry.
      const where = ["--registry", registry, `--@millrace:registry=${registry}`];
      const args = ["publish", tarball, "--access", "public", provenance, ...where];
      await run(
        "npm",
        [...args, "--loglevel", "error"],
        isDry ? { npm_config_userconfig: npmrc } : {},
      );
      say(`${name}@${version}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main() {
  const { values } = parseArgs({
    options: {
      "dry-run": { type: "boolean", default: false },
      registry: { type: "string" },
      only: { type: "string", multiple: true, default: [] },
    },
  });
  const isDry = values["dry-run"];
  const changesets = readdirSync(join(root, ".changeset")).filter(
    (name) => name.endsWith(".md") && name !== "README.md",
  );
  const status = await run("git", ["status", "--porcelain"]);
  const problems = refusals({ status, changesets, env: process.env });
  if (!isDry && problems.length > 0) {
    process.stderr.write(problems.map((text) => `release: ${text}\n`).join(""));
    return 2;
  }
  if (isDry && values.registry !== undefined && !LOOPBACK.test(values.registry)) {
    process.stderr.write("release: --dry-run publishes to a registry on 127.0.0.1 alone\n");
    return 2;
  }
  const own = isDry && values.registry === undefined ? await serveRegistry() : undefined;
  try {
    const registry = own?.url ?? values.registry ?? NPM;
    const say = (text) => process.stdout.write(`${text}\n`);
    await publishAll(publishOrder(publishedManifests(), values.only), { registry, isDry, say });
    for (const text of isDry ? problems : [])
      process.stderr.write(`a release would be refused: ${text}\n`);
    return 0;
  } finally {
    own?.close();
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await main();
}
