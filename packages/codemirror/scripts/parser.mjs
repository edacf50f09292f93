// Makes src/parser.ts and src/parser.terms.ts from src/flow.grammar. With --check it writes nothing and fails when they differ.
import { readFileSync, writeFileSync } from "node:fs";
import { buildParserFile } from "@lezer/generator";

const source = new URL("../src/", import.meta.url);
const grammar = readFileSync(new URL("flow.grammar", source), "utf8");
const warnings = [];
const made = buildParserFile(grammar, {
  fileName: "flow.grammar",
  typeScript: true,
  warn: (message) => warnings.push(message),
});
if (warnings.length > 0) throw new Error(warnings.join("\n"));
const tokens = readFileSync(new URL("tokens.ts", source), "utf8");
const files = {
  "parser.ts": made.parser.replace("export const parser =", "export const parser: LRParser ="),
  "parser.terms.ts": usedTerms(made.terms),
};
for (const [name, text] of Object.entries(files)) {
  const file = new URL(name, source);
  if (!process.argv.includes("--check")) writeFileSync(file, text);
  else if (readFileSync(file, "utf8") !== text) {
    process.stderr.write(`src/${name} is not what src/flow.grammar gives: npm run generate\n`);
    process.exitCode = 1;
  }
}

/** The terms that the tokenizers name, one constant each. */
function usedTerms(text) {
  const lines = [...text.matchAll(/^\s+(\w+) = (\d+)/gm)].filter(([, name]) =>
    new RegExp(`terms\\.${name}\\b`).test(tokens),
  );
  const constants = lines.map(([, name, id]) => `export const ${name} = ${id};\n`);
  return `// Made by scripts/parser.mjs.\n${constants.join("")}`;
}
