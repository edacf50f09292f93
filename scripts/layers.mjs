// The one direction of dependency, as data and as a check. Run alone it prints what breaks a rule
// and exits 1; test/layers.test.ts proves that each rule bites.
//   L1  A package imports and declares only Millrace packages to its left in the table.
//   L2  A package declares only the foreign runtime dependencies listed for it.
//   L3  A neutral package imports no Node module outside src/node, and nothing imports src/node.
//   L4  zod is imported as a namespace.
//   L5  index.ts is a list of names: no `export *`.
//   L6  Neutral packages are compiled with tsconfig.neutral.json.
//   L7  Files import each other in one direction, types included (circles.mjs).
//   L8  An extension has `contracts` as a peer, as one of others has.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { circlesOf } from "./circles.mjs";
import { packageFolders } from "./package-folders.mjs";

const spine = ["contracts", "dsl", "engine"];
const packs = ["ai", "services", "extensions"];

/** What each package may use; `needs` are Millrace packages, `foreign` runtime dependencies. */
export const layers = {
  contracts: { neutral: true, needs: [], foreign: ["zod"] },
  client: { neutral: true, needs: ["contracts"], foreign: [] },
  desktop: { neutral: true, needs: ["contracts", "client"], foreign: [] },
  dsl: { neutral: true, needs: ["contracts"], foreign: [] },
  graph: { neutral: true, needs: ["contracts", "dsl"], foreign: [] },
  "language-server": {
    needs: ["contracts", "dsl"],
    foreign: ["vscode-languageserver", "vscode-languageserver-textdocument"],
  },
  codemirror: { needs: ["dsl"], foreign: ["@codemirror/*", "@lezer/*"] }, // the foreign ones are peers
  engine: { neutral: true, needs: ["contracts", "dsl"], foreign: [] },
  ai: { neutral: true, needs: spine, foreign: [] },
  services: { neutral: true, needs: spine, foreign: [] },
  "services-catalog": { needs: ["contracts"], foreign: [] },
  extensions: { needs: spine, foreign: ["semver"] },
  oauth: { neutral: true, needs: [], foreign: ["keytar", "@napi-rs/keyring"] },
  providers: { needs: ["contracts"], foreign: ["@ai-sdk/*", "@modelcontextprotocol/client"] },
  store: { needs: ["contracts"], foreign: ["libsql"] },
  "store-postgres": { needs: ["contracts", "store"], foreign: ["pg"] }, // installed by who wants several servers
  "local-models": { needs: ["contracts"], foreign: ["node-llama-cpp"] },
  restate: { needs: ["contracts"], foreign: ["@restatedev/restate-sdk"] },
  server: {
    needs: [
      ...[...spine, ...packs, "client", "desktop", "oauth", "store", "providers"],
      ...["local-models", "store-postgres", "restate"],
    ],
    // Those of OpenTelemetry are peers.
    foreign: [
      ...["hono", "@hono/node-server", "pino", "croner", "prom-client", "@opentelemetry/*"],
      "@modelcontextprotocol/server",
    ],
  },
  cli: {
    needs: [
      ...spine,
      ...packs,
      "client",
      "desktop",
      "graph",
      "language-server",
      "oauth",
      "store",
      "studio",
      "providers",
      "local-models",
      "store-postgres",
      "restate",
      "server",
      "services-catalog",
    ],
    // What the packages that are bundled into it leave outside.
    foreign: [
      ...["@ai-sdk/*", "@modelcontextprotocol/client", "keytar", "@napi-rs/keyring", "libsql"],
      "@modelcontextprotocol/server",
      ...["hono", "@hono/node-server", "pino", "prom-client", "@opentelemetry/*"],
    ],
  },
  // The page is one bundle: all it uses is inside, so it has no dependencies.
  studio: {
    needs: ["contracts", "client", "dsl", "graph", "codemirror"],
    foreign: [],
  },
  // Private: it is packed for VS Code.
  vscode: {
    needs: ["cli", "language-server"],
    foreign: ["vscode", "vscode-languageclient"],
  },
  testkit: { needs: [...spine, ...packs], foreign: ["vitest"] },
  "create-extension": { needs: [], foreign: [] },
  // Helpers of tests, in front of every package; never published.
  "test-support": {
    needs: [...spine, "ai", "desktop", "extensions", "oauth", "services", "store", "testkit"],
    foreign: ["zod"],
  },
};

/** Our extensions: each uses `contracts` and the foreign runtime dependencies that are listed. */
export const extensions = {
  code: ["@cfworker/json-schema", "@jitl/quickjs-wasmfile-release-sync"],
  files: ["csv-parse", "fflate", "read-excel-file", "write-excel-file"],
  s3: [],
  mail: ["nodemailer"],
  sql: ["libsql", "pg"],
};

const SPECIFIER = /(?:\bfrom|\bimport|\bimport\s*\(|\brequire\s*\()\s*["']([^"']+)["']/g;
const NODE_MODULES = new Set(builtinModules.flatMap((name) => [name, `node:${name}`]));

const millrace = (name) => /^@millrace\/([^/]+)/.exec(name)?.[1];
const matches = (name, pattern) =>
  pattern.endsWith("/*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
const withoutComments = (text) =>
  text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");

/** Every broken rule under `root`, one sentence each; an empty list is a pass. */
export function checkLayers(root) {
  const problems = [];
  for (const place of packageFolders(root)) {
    const layer = layerOf(place);
    if (layer === undefined) problems.push(`${place}: not in the table of scripts/layers.mjs`);
    else problems.push(...checkManifest(root, place, layer), ...checkSources(root, place, layer));
  }
  return problems;
}

/** What the package in a folder may use. */
function layerOf(place) {
  const [kind, name] = place.split("/");
  if (kind === "packages") return layers[name];
  const foreign = extensions[name];
  return foreign && { needs: ["contracts"], foreign, isExtension: true };
}

function checkManifest(root, place, { needs, foreign, neutral, isExtension }) {
  const problems = [];
  const folder = join(root, place);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const declared = ["dependencies", "optionalDependencies", "peerDependencies"].flatMap((field) =>
    Object.keys(manifest[field] ?? {}),
  );
  for (const dependency of declared) {
    const own = millrace(dependency);
    if (own !== undefined && !needs.includes(own)) {
      problems.push(`${place}/package.json: L1 must not depend on ${dependency}`);
    }
    if (own === undefined && !foreign.some((pattern) => matches(dependency, pattern))) {
      problems.push(`${place}/package.json: L2 ${dependency} needs a decision record first`);
    }
  }
  if (neutral) {
    const config = JSON.parse(readFileSync(join(folder, "tsconfig.build.json"), "utf8"));
    const { types, lib } = config.compilerOptions ?? {};
    if (
      !config.extends?.endsWith("tsconfig.neutral.json") ||
      types !== undefined ||
      lib !== undefined
    ) {
      problems.push(
        `${place}/tsconfig.build.json: L6 must take types and lib from tsconfig.neutral.json`,
      );
    }
  }
  const { "@millrace/contracts": peer } = manifest.peerDependencies ?? {};
  if (isExtension && peer === undefined) {
    problems.push(`${place}/package.json: L8 @millrace/contracts must be a peer dependency`);
  }
  return problems;
}

function checkSources(root, place, { needs, neutral }) {
  const folder = join(root, place);
  const problems = circlesOf(join(folder, "src")).map(
    (circle) => `${place}: L7 these files import each other: ${circle.join(", ")}`,
  );
  for (const file of sources(join(folder, "src"))) {
    const where = `${place}/${relative(folder, file).split(sep).join("/")}`;
    const nodeOnly = where.includes("/src/node/");
    const code = withoutComments(readFileSync(file, "utf8"));
    for (const [, specifier] of code.matchAll(SPECIFIER)) {
      const own = millrace(specifier);
      if (own !== undefined && place !== `packages/${own}` && !needs.includes(own)) {
        problems.push(`${where}: L1 must not import ${specifier}`);
      }
      if (
        neutral &&
        !nodeOnly &&
        (NODE_MODULES.has(specifier) || /^\.{1,2}\/(.*\/)?node\//.test(specifier))
      ) {
        problems.push(`${where}: L3 must not import ${specifier}`);
      }
    }
    if (/import\s+(?!\*\s+as\s)(?!type\s+\*)[^;]*from\s*["']zod["']/.test(code)) {
      problems.push(`${where}: L4 import zod as a namespace: import * as z from "zod"`);
    }
    if (where.endsWith("/index.ts") && /export\s+\*/.test(code)) {
      problems.push(`${where}: L5 list the exported names`);
    }
  }
  return problems;
}

function sources(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const problems = checkLayers(fileURLToPath(new URL("..", import.meta.url)));
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
