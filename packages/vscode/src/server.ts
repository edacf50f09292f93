/** The server that comes with the extension, for machines without the command: `millrace lsp` without the rest of it. */

import { readFileSync } from "node:fs";
import { projectOf } from "@millrace/cli/project-of";
import { createLanguageServer } from "@millrace/language-server";

/** The manifest of the extension, beside this file. */
const manifest = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));

const surroundings = { cwd: process.cwd(), env: process.env };
const { ended } = createLanguageServer({
  reader: process.stdin,
  writer: process.stdout,
  version: manifest.version,
  projectFor: (folder) => projectOf(folder, surroundings),
});
process.exit(await ended);
