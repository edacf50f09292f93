/** What each command loads: files, bytes and packages of what is built and starts with it. */
import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
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
  const paths = [`${module}.ts`, `${module}/index.ts`];
  const entry =
    built.find(({ entry }) => entry !== null && paths.includes(entry)) ??
    built.find(({ sources }) =>
      sources.some((source) => paths.some((path) => source.endsWith(`/cli/src/${path}`))),
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

test("help loads the table and nothing else, and at most 27 kB", () => {
  const files = started();
  expect([...packages(files)].sort()).toEqual(["cli"]);
  expect(bytes(files)).toBeLessThanOrEqual(27_000); // the program that is started is 2 kB of it, what rolldown adds 4 kB
});

test("a run loads nothing of providers and servers before its flow wants them", () => {
  const texts = loadedWith("commands/run").map((file) => readFileSync(join(DIST, file), "utf8"));
  for (const text of texts) expect(text).not.toMatch(/(?:require|import)\(["`]@millrace\//);
});

test("a check loads neither the engine nor zod, nor what measures wide characters", () => {
  const files = started("commands/validate");
  const loaded = [...packages(files)].sort();
  expect(loaded).toEqual(["cli", "client", "contracts", "dsl", "providers"]);
  expect(ofProviders(files)).toEqual(["secret-variables.ts"]);
  expect(bytes(files)).toBeLessThanOrEqual(463_500); // the language is two thirds of it, the catalog of core a tenth
  expect(files.length).toBeLessThanOrEqual(6);
  const compiled = started("commands/validate", "run/compile");
  expect(sources(compiled).filter((source) => source.includes("/engine/src/run/"))).toEqual([]);
  expect(bytes(compiled)).toBeLessThanOrEqual(545_800);
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
  expect(bytes(files)).toBeLessThanOrEqual(714_600);
  expect(files.length).toBeLessThanOrEqual(10); // the engine is two files: checks need the half that compiles
  for (const file of files) {
    const text = readFileSync(join(DIST, file), "utf8");
    expect(text).not.toMatch(
      /require\(["`]node:(?:https?|tls|zlib|crypto|child_process|dns.*)["`]\)/,
    );
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
  const folder = scratch({});
  const { code } = await millrace(words, { env: { NODE_V8_COVERAGE: folder } });
  const reports = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  const urls = reports.flatMap((text) =>
    (JSON.parse(text) as { result: { url: string }[] }).result.map(({ url }) => url),
  );
  const files = urls.filter((url) => url.startsWith("file:")).map((url) => fileURLToPath(url));
  return { code, files: [...new Set(files)] };
}

test("a list of the store loads the store, and neither what checks arguments nor what runs flows", async () => {
  for (const noun of ["runs", "templates", "schedule", "hubs", "webhooks", "connections"]) {
    const { code, files } = await loadedBy(noun, "list");
    expect(code, noun).toBe(0);
    const loaded = packages(files.map((file) => basename(file)));
    for (const heavy of ["dsl", "engine", "zod", "string-width"])
      expect(loaded).not.toContain(heavy);
    expect(files.length, noun).toBeLessThanOrEqual(21);
    const size = files.reduce((sum, file) => sum + readFileSync(file).length, 0);
    expect(size, noun).toBeLessThanOrEqual(278_900);
  }
});

test("a search of the ready services loads their files, and neither the rules of services nor a server", async () => {
  const { code, files } = await loadedBy("services", "search", "mail");
  expect(code).toBe(0);
  const outside = files.filter((file) => !file.startsWith(DIST) && !file.endsWith("millrace.js"));
  expect(outside.map((file) => basename(file))).toEqual(["catalog.js"]);
  expect(files.length).toBeLessThanOrEqual(10);
  const size = files.reduce((sum, file) => sum + readFileSync(file).length, 0);
  expect(size).toBeLessThanOrEqual(75_600);
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
  expect(size).toBeLessThanOrEqual(1_468_000);
  // A constant and an answer of the HTTP server, and the driver of the store.
  expect(files.filter((file) => file.includes("node_modules")).length).toBeLessThanOrEqual(9);
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
