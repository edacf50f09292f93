// Fetches the OpenAPI documents that packages/services-catalog/test/openapi.json names out of packages of npm, for the test that
// asks Prism. Usage: node scripts/catalog-openapi.mjs. Needs node, npm, tar and Prism alone, and runs before an install.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fileOf } from "../packages/test-support/src/programs.js";

/** The documents by service: the package, its file, and the operations of ours that it does not have. */
export const DOCUMENTS = JSON.parse(
  readFileSync(new URL("../packages/services-catalog/test/openapi.json", import.meta.url), "utf8"),
);

/**
 * Where the document of a service is on this machine once it was fetched: beside Prism, so that every checkout finds it.
 * @param {string} slug
 * @returns {string}
 */
export function documentOf(slug) {
  const { source, file } = DOCUMENTS[slug];
  return join(folderOf(source), file);
}

function folderOf(source) {
  const prism = fileOf("prism");
  if (prism === undefined) throw new Error("no prism: see packages/services-catalog/README.md");
  return join(dirname(prism), "../share/millrace-openapi", source);
}

function fetchDocuments() {
  const missing = Object.keys(DOCUMENTS).filter((slug) => !existsSync(documentOf(slug)));
  for (const source of new Set(missing.map((slug) => DOCUMENTS[slug].source))) {
    const folder = folderOf(source);
    mkdirSync(dirname(folder), { recursive: true });
    const made = mkdtempSync(`${folder}-`);
    try {
      const options = { cwd: made, encoding: "utf8" };
      const tarball = execFileSync("npm", ["pack", source, "--silent"], options).trim();
      const files = Object.values(DOCUMENTS).filter((each) => each.source === source);
      const members = files.map(({ file }) => `package/${file}`);
      execFileSync("tar", ["xzf", tarball, "--strip-components=1", ...members], options);
      rmSync(join(made, tarball));
      rmSync(folder, { recursive: true, force: true });
      chmodSync(made, 0o755); // other users of this machine read it too
      renameSync(made, folder);
    } finally {
      rmSync(made, { recursive: true, force: true });
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) fetchDocuments();
