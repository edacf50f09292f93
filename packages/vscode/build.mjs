// Builds the extension: two bundles and what VS Code reads beside them, packed into dist/millrace-flow-<version>.vsix.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createVSIX } from "@vscode/vsce";
import { rolldown } from "rolldown";
import { licencesOf } from "../../scripts/licences.mjs";
import { knownValues } from "../cli/known-values.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));
const FOLDER = here("dist/extension");

/** Bundles a program into one file, and gives the files that are in it. */
async function program(input, file, format) {
  const bundle = await rolldown({
    cwd: here("."),
    input,
    platform: "node",
    external: ["vscode"],
    // Sources of ours, not builds: what the program does not use stays out of it.
    resolve: { conditionNames: ["@millrace/source", "import", "node", "default"] },
    transform: { target: "node20" },
    plugins: [knownValues],
    checks: { ineffectiveDynamicImport: false },
  });
  const { output } = await bundle.write({
    file: join(FOLDER, file),
    format,
    minify: true,
    codeSplitting: false,
  });
  await bundle.close();
  return output.flatMap(({ moduleIds = [] }) => moduleIds);
}

rmSync(here("dist"), { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
const files = [
  ...(await program("src/extension.ts", "client.cjs", "cjs")),
  ...(await program("src/server.ts", "server.mjs", "esm")),
];
writeFileSync(join(FOLDER, "THIRD-PARTY-NOTICES.txt"), licencesOf(files));
const syntaxes = dirname(
  fileURLToPath(import.meta.resolve("@millrace/dsl/syntaxes/flow.tmLanguage.json")),
);
for (const name of ["flow.tmLanguage.json", "language-configuration.json"]) {
  copyFileSync(join(syntaxes, name), join(FOLDER, name));
}
copyFileSync(here("README.md"), join(FOLDER, "README.md"));
copyFileSync(here("../../LICENSE"), join(FOLDER, "LICENSE.txt"));
const { displayName, description, publisher, categories, keywords, license, ...rest } = readJson(
  here("package.json"),
);
const { homepage, bugs, repository, engines, activationEvents, capabilities, contributes } = rest;
const manifest = {
  ...{ name: "millrace-flow", displayName, description, publisher, categories, keywords, license },
  main: "./client.cjs",
  version: readJson(here("../cli/package.json")).version, // that of the server in it
  ...{ homepage, bugs, repository, engines: { vscode: engines.vscode }, files: ["**"] },
  ...{ activationEvents, capabilities, contributes },
};
writeFileSync(join(FOLDER, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
const packagePath = here(`dist/millrace-flow-${manifest.version}.vsix`);
await createVSIX({ cwd: FOLDER, packagePath, dependencies: false });
