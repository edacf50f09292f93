/** What is in the packed extension. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { unzipSync } from "fflate";
import { expect, test } from "vitest";
import cli from "../../cli/package.json" with { type: "json" };

const VSIX = fileURLToPath(new URL(`../dist/millrace-flow-${cli.version}.vsix`, import.meta.url));
/** What somebody downloads. */
const MAX_BYTES = 600_000;

const archive = readFileSync(VSIX);
const files = unzipSync(archive);
const text = (name: string): string => Buffer.from(files[name] ?? []).toString("utf8");

test("holds the extension and nothing else", () => {
  expect(Object.keys(files).sort()).toEqual([
    "[Content_Types].xml",
    "extension.vsixmanifest",
    "extension/LICENSE.txt",
    "extension/THIRD-PARTY-NOTICES.txt",
    "extension/client.cjs",
    "extension/flow.tmLanguage.json",
    "extension/language-configuration.json",
    "extension/package.json",
    "extension/readme.md",
    "extension/server.mjs",
  ]);
  expect(archive.length).toBeLessThanOrEqual(MAX_BYTES);
});

test("says what it is, and is loaded with a flow only", () => {
  const manifest = JSON.parse(text("extension/package.json"));
  expect(manifest).toMatchObject({
    name: "millrace-flow",
    engines: { vscode: "^1.91.0" },
    main: "./client.cjs",
    activationEvents: ["onLanguage:millrace-flow"],
    capabilities: { untrustedWorkspaces: { supported: "limited" } },
  });
  expect(manifest.contributes.configuration.properties["millrace.path"].scope).toBe("machine");
  for (const member of ["dependencies", "devDependencies", "scripts", "private"]) {
    expect(manifest).not.toHaveProperty(member);
  }
});

test("has the grammar of the language, no source maps, and no path of the machine that built it", () => {
  const grammar = new URL("../../dsl/syntaxes/flow.tmLanguage.json", import.meta.url);
  expect(text("extension/flow.tmLanguage.json")).toBe(readFileSync(grammar, "utf8"));
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  for (const name of Object.keys(files)) {
    expect(text(name)).not.toContain("sourceMappingURL");
    expect(text(name)).not.toContain(root);
  }
});

test("carries the licence of every package in its bundles", () => {
  const notices = text("extension/THIRD-PARTY-NOTICES.txt");
  for (const name of [
    "vscode-languageclient",
    "vscode-languageserver",
    "vscode-jsonrpc",
    "semver",
  ]) {
    expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\((?:MIT|ISC)\\)$`, "m"));
  }
  expect(notices).not.toMatch(/^\S+ \S+ \((?!MIT|ISC|BSD|BlueOak|Apache-2\.0)/m);
});
