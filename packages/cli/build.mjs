// Bundles the command: everything of ours and the libraries that neither listen nor call, in few files.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { licencesOf } from "../../scripts/licences.mjs";
import { knownValues } from "./known-values.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const DIST = here("dist");

/**
 * Code that starts together lies together: each of these modules and what it imports is one file, less what is in the files
 * before it. A file that is loaded costs as much as 20 kB of code. Every other command is a small file beside them.
 */
const PACKS = {
  any: ["main"], // every command, and help
  common: ["api/open", "api/proposed-schedules"], // configuration, times
  limits: ["config/limit-keys"], // for commands that show the configuration, without the server that has them
  api: ["api/errors", "api/runs", "run/follow-to-end", "../../contracts/src/kit/canonical-json"],
  // What runs and the store know of events, then what lists need of the store.
  events: ["events/fold", "events/make", "events/serialise", "secret-inputs"].map(
    (name) => `../../contracts/src/${name}`,
  ),
  store: ["../../server/src/local/stored-lists"],
  language: ["commands/validate"],
  compile: ["run/compile"], // for checks of flows that call others, or whose nodes check their fields
  engine: ["run/start"],
  packs: ["../../server/src/host/registry"], // for flows that speak to models and services
  server: ["api/data-folder"], // this installation as the API, zod
};

/** Packages that are part of the program; an operator may update the others alone, and the page and the catalog read their own files. */
const INSIDE =
  /^(?:@millrace\/(?!local-models|restate|services-catalog|store-postgres|studio)|(?:croner|diff|semver|string-width|vscode-languageserver(?:-textdocument)?|yaml|zod)(?:\/|$))/;

const options = {
  cwd: here("."),
  platform: "node",
  external: (name, importer = "") =>
    !/^[./]/.test(name) && !INSIDE.test(name) && !importer.includes("/node_modules/"),
  // Sources, not builds: a module that a command does not use stays out of its files.
  resolve: { conditionNames: ["@millrace/source", "import", "node", "default"] },
  transform: { target: "node20" },
  preserveEntrySignatures: "allow-extension",
  checks: { ineffectiveDynamicImport: false },
  plugins: [knownValues],
};
const bundle = await rolldown({ ...options, input: { index: "src/index.ts", bin: "src/bin.ts" } });

/** The files that a file loads before it runs, itself among them. */
function loadedWith(file, files) {
  const found = new Set([file]);
  for (const { imports } of found) {
    for (const name of imports) if (files.has(name)) found.add(files.get(name));
  }
  return [...found];
}

/** The pack of each module, from a bundle in which only modules that the same commands need are one file. */
async function packsOf() {
  const { output } = await bundle.generate({ format: "esm" });
  const files = new Map(output.map((file) => [file.fileName, file]));
  const packs = new Map();
  for (const [name, modules] of Object.entries(PACKS)) {
    for (const module of modules) {
      const path = here(`src/${module}.ts`);
      const file = output.find(({ moduleIds = [] }) => moduleIds.includes(path));
      for (const id of loadedWith(file, files).flatMap(({ moduleIds }) => moduleIds)) {
        if (!packs.has(id)) packs.set(id, name);
      }
    }
  }
  return packs;
}

const packs = await packsOf();
const { output } = await bundle.write({
  dir: DIST,
  cleanDir: true,
  format: "cjs", // bytecode of modules cannot be kept: bin/millrace.js
  strict: true,
  minify: true,
  entryFileNames: "[name].cjs",
  chunkFileNames: "[name]-[hash].cjs",
  codeSplitting: {
    includeDependenciesRecursively: false, // the packs hold them
    groups: [{ debugName: "packs", name: (id) => packs.get(id) }],
  },
});
await bundle.close();
writeFileSync(
  join(DIST, "index.js"),
  'import command from "./index.cjs";\nexport const { main } = command;\n',
);

// Programs of threads and processes: they are started by name, beside the file that starts them.
const programs = await rolldown({
  ...options,
  input: {
    "writer-thread": here("../store/src/writer/writer-thread.js"),
    helper: here("../oauth/src/node/os-store/helper.js"),
  },
});
await programs.write({ dir: DIST, format: "esm", minify: true, entryFileNames: "[name].js" });
await programs.close();

// For the test of what each command loads; it is not packed.
const files = output.map(({ fileName, facadeModuleId, imports, dynamicImports, modules }) => ({
  name: fileName,
  entry: facadeModuleId && relative(here("src"), facadeModuleId),
  imports,
  dynamicImports,
  sources: Object.keys(modules).filter((path) => modules[path].renderedLength > 0),
}));
writeFileSync(join(DIST, "files.json"), JSON.stringify(files));

// The examples, without what is installed or written in them.
cpSync(here("../../examples"), join(DIST, "templates"), {
  recursive: true,
  filter: (path) =>
    !/(?:^|[\\/])(?:node_modules|out)(?:$|[\\/])/.test(relative(here("../../examples"), path)),
});
// The program of a child stands beside the file that starts it.
cpSync(here("../extensions/dist/extension-child.js"), join(DIST, "extension-child.js"));
writeFileSync(join(DIST, "licenses.txt"), licencesOf(files.flatMap(({ sources }) => sources)));
// A shell that starts waits for nothing but a file.
mkdirSync(join(DIST, "completion"));
for (const shell of ["bash", "zsh", "fish"]) {
  const text = execFileSync(process.execPath, [here("bin/millrace.js"), "completion", shell]);
  writeFileSync(join(DIST, "completion", shell), text);
}
