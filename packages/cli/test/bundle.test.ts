/** What each command loads: files, bytes and packages of what is built and starts with it. */
import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { millrace, scratch } from "./cli.ts";

const HELLO = fileURLToPath(new URL("../../../examples/01-hello/hello.flow", import.meta.url));
const DIST = fileURLToPath(new URL("../dist", import.meta.url));

/** What is built, from the bundler. `entry`: the module below `src` that the file stands for. */
const built: readonly {
  readonly name: string;
  readonly entry: string | null;
  readonly imports: readonly string[];
  readonly dynamicImports: readonly string[];
  readonly sources: readonly string[];
}[] = JSON.parse(readFileSync(join(DIST, "files.json"), "utf8"));
const byName = new Map(built.map((file) => [file.name, file]));

/** The file of a module, and everything it imports before it can run. */
function loadedWith(module: string): string[] {
  const entry = built.find(
    ({ entry }) => entry === `${module}.ts` || entry === `${module}/index.ts`,
  );
  const files = new Set([entry?.name ?? `no built file of ${module}`]);
  for (const file of files) {
    for (const next of byName.get(file)?.imports ?? []) if (byName.has(next)) files.add(next);
  }
  return [...files];
}

function bytes(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + readFileSync(join(DIST, file)).length, 0);
}

/** Sources whose code is in these files. */
function sources(files: readonly string[]): readonly string[] {
  return files.flatMap((file) => byName.get(file)?.sources ?? []);
}

/** Names of the packages whose code is in these files. */
function packages(files: readonly string[]): Set<string> {
  const names = sources(files).map(
    (source) =>
      /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1] ??
      /\/(\w+)\/src\//.exec(source)?.[1] ??
      "cli",
  );
  return new Set(names);
}

/** Modules of the providers whose code is in these files. */
function ofProviders(files: readonly string[]): readonly string[] {
  const found = sources(files).filter((source) => source.includes("/providers/src/"));
  return found.map((source) => basename(source));
}

/** All files of a command line: those of the command, and those of every one. */
function started(...modules: string[]): string[] {
  return [...new Set(["bin", ...modules].flatMap(loadedWith))];
}

test("help loads the table and nothing else, and at most 21 kB", () => {
  const files = started();
  expect([...packages(files)].sort()).toEqual(["cli"]);
  expect(bytes(files)).toBeLessThanOrEqual(21_000); // the program that is started is 2 kB of it
});

test("a run loads nothing of providers and servers before its flow wants them", () => {
  const texts = loadedWith("commands/run").map((file) => readFileSync(join(DIST, file), "utf8"));
  for (const text of texts) expect(text).not.toMatch(/(?:from|import)\s*"@millrace\//);
});

test("a check loads neither the engine nor zod, nor what measures wide characters", () => {
  const files = started("commands/validate");
  const loaded = [...packages(files)].sort();
  expect(loaded).toEqual(["cli", "client", "contracts", "dsl", "providers"]);
  expect(ofProviders(files)).toEqual(["secret-variables.ts"]);
  // The language is 257 kB of it, 10 kB of that its strict reader; the catalog of core, half of that its `ai`, 34 kB since each field has a sentence; reading words 40 kB. The row of `lsp` and the parameters of functions are half a kilobyte, findings in steps and the flows of the project four. The rows of inputs that runs and nodes were given are half a kilobyte.
  expect(bytes(files)).toBeLessThanOrEqual(432_000); // edges of several nodes (1 kB), slips of commas and of `if` (3 kB), functions for lists, CSV, patterns and zones (12.7 kB), variables and secrets of flows, who is told of a failure, limits, failures and pages that services describe, a secret from the file of a variable, the keys of a store that servers share, the row of `store`, edges that are found without keys, and the rows of limits and logs
  expect(files.length).toBeLessThanOrEqual(6);
  const compiled = started("commands/validate", "run/compile");
  expect(sources(compiled).filter((source) => source.includes("/engine/src/run/"))).toEqual([]);
  expect(bytes(compiled)).toBeLessThanOrEqual(510_000);
});

test("a project and its configuration need the limits of a server, and nothing else of it", () => {
  for (const command of ["commands/init", "commands/config"]) {
    const ofServer = sources(started(command)).filter((source) => source.includes("/server/src/"));
    expect(ofServer.map((source) => basename(source))).toEqual(["limits.ts"]);
  }
});

test("a run without a terminal loads neither zod nor a server, and not what asks hosts, models or services", () => {
  const files = started("commands/run", "run/start");
  const loaded = [...packages(files)].sort();
  expect(loaded).toEqual(["cli", "client", "contracts", "dsl", "engine", "providers"]);
  expect(ofProviders(files)).toEqual(["secret-variables.ts"]);
  expect(bytes(files)).toBeLessThanOrEqual(668_000); // slips of commas and of `if` (3 kB), functions for lists, CSV, patterns and zones (12.7 kB), variables and secrets of flows, who is told of a failure, and items that run again; limits and failures that services describe, what asks for traces, secrets from files of variables, the key of the credential file, the strict reader and the engine's fast lane came to it, then parameters of functions, findings in steps, the flows of the project, a sentence for each field, the fast lane written out, and what a node was given, and the row of `studio`, and what several servers share, with the keys of concurrency that they ask for, and a signal of `ai` nodes that is made when it is wanted
  expect(files.length).toBeLessThanOrEqual(10); // the engine is two files: checks need the half that compiles
  for (const file of files) {
    const text = readFileSync(join(DIST, file), "utf8");
    expect(text).not.toMatch(/from\s*"node:(?:https?|tls|zlib|crypto|child_process|dns.*)"/);
  }
});

test("looking at what is stored loads neither the language nor the engine, nor zod", () => {
  for (const name of ["runs", "schedule", "models", "hubs"]) {
    const files = loadedWith(`commands/${name}`);
    const loaded = packages(files);
    for (const heavy of ["dsl", "engine", "zod"]) expect(loaded).not.toContain(heavy);
    expect(files.length, name).toBeLessThanOrEqual(16);
  }
});

/** Files of modules that a command line loads while it runs. */
async function loadedBy(...words: string[]): Promise<{ code: number | null; files: string[] }> {
  const folder = scratch({
    "count.mjs":
      'import { register } from "node:module";\nregister("./hooks.mjs", import.meta.url);\n',
    "hooks.mjs": `import { appendFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
export function load(url, context, next) {
  if (url.startsWith("file:")) appendFileSync(new URL("loaded.txt", import.meta.url), fileURLToPath(url) + "\\n");
  return next(url, context);
}
`,
  });
  const count = pathToFileURL(join(folder, "count.mjs")).href;
  const { code } = await millrace(words, { env: { NODE_OPTIONS: `--import=${count}` } });
  const text = readFileSync(join(folder, "loaded.txt"), "utf8");
  const files = text.split("\n").filter((file) => file !== "" && !file.endsWith("count.mjs"));
  return { code, files };
}

test("a list of the store loads the store, and neither what checks arguments nor what runs flows", async () => {
  for (const noun of ["runs", "templates", "schedule", "hubs", "webhooks"]) {
    const { code, files } = await loadedBy(noun, "list");
    expect(code, noun).toBe(0);
    const loaded = packages(files.map((file) => basename(file)));
    for (const heavy of ["dsl", "engine", "zod", "string-width"])
      expect(loaded).not.toContain(heavy);
    expect(files.length, noun).toBeLessThanOrEqual(16);
    const size = files.reduce((sum, file) => sum + readFileSync(file).length, 0);
    expect(size, noun).toBeLessThanOrEqual(218_500); // what tries webhooks out, variables and secrets of flows, locks, openings and the inbox of the store among them
  }
});

test("a search of the ready services loads their files, and neither the rules of services nor a server", async () => {
  const { code, files } = await loadedBy("services", "search", "mail");
  expect(code).toBe(0);
  const outside = files.filter((file) => !file.startsWith(DIST) && !file.endsWith("millrace.js"));
  expect(outside.map((file) => basename(file))).toEqual(["catalog.js"]);
  expect(files.length).toBeLessThanOrEqual(10);
  const size = files.reduce((sum, file) => sum + readFileSync(file).length, 0);
  expect(size).toBeLessThanOrEqual(64_000);
});

test("a check of a flow whose nodes check nothing themselves loads no engine", async () => {
  const { code, files } = await loadedBy("validate", HELLO);
  expect(code).toBe(0);
  expect(packages(files.map((file) => basename(file)))).not.toContain("engine");
});

test("any other command of the API opens the store with a handful of files, all but a few of them ours", async () => {
  const { code, files } = await loadedBy("connections", "list");
  expect(code).toBe(0);
  expect(files.length).toBeLessThanOrEqual(36);
  const size = files.reduce((sum, file) => sum + readFileSync(file).length, 0);
  expect(size).toBeLessThanOrEqual(1_373_500); // edges of several nodes and what is set twice (1.3 kB), writes of many runs that share statements and are sent ahead (1 kB), slips of commas and of `if` (3 kB), functions of expressions (12.7 kB), the push of flows, what processes of one home tell each other, and the names between the two files of the engine, came to it
  // A constant of the HTTP server.
  expect(files.filter((file) => file.includes("node_modules")).length).toBeLessThanOrEqual(2);
});

test("the manifest names what the program imports, and nothing else", () => {
  const outside = built
    .flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
    .filter((path) => !byName.has(path) && !path.startsWith("node:"))
    .map((path) => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path)
    .filter((name) => !builtinModules.includes(name));
  const native = ["@napi-rs/keyring", "keytar", "libsql"]; // looked for by what loads them
  const manifest = JSON.parse(readFileSync(join(DIST, "../package.json"), "utf8"));
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  expect(
    Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }).sort(),
  ).toEqual([...new Set([...outside, ...native])].sort());
});

test("the licence of everything foreign in the program is packed with it", () => {
  const text = readFileSync(join(DIST, "licenses.txt"), "utf8");
  const ours = readdirSync(join(DIST, "../.."));
  const foreign = [...packages([...byName.keys()])].filter((name) => !ours.includes(name));
  expect(foreign).toContain("zod");
  for (const name of foreign) expect(text).toMatch(new RegExp(`^${name} \\d`, "m"));
});
