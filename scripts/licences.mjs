// Licences of others whose code is in our bundles: each wants its text beside every copy.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/**
 * The names, versions and licences of the packages that files are from, as one text. Throws for a package without a text.
 * @param {Iterable<string>} files paths of bundled modules
 * @returns {string}
 */
export function licencesOf(files) {
  const folders = new Set([...files].flatMap((file) => PACKAGE.exec(file)?.[0] ?? []));
  const texts = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(folder, "package.json"), "utf8"),
    );
    const file = readdirSync(folder).find((each) => /^licen[cs]e(?:\.|$)/i.test(each));
    if (file === undefined) throw new Error(`${name} ${version} has no file of its licence`);
    return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  });
  return texts.sort().join(`\n${"-".repeat(80)}\n\n`);
}
