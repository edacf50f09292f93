/** A program that was bundled: what starts a program of its own is imported without harm, and says what it misses. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { temporaryFolder } from "@millrace/test-support/folder";
import { build } from "tsup";
import { expect, test } from "vitest";

const OS_STORE = new URL("../src/node/os-store/index.ts", import.meta.url).pathname;

test.each(["esm", "cjs"] as const)("the store of the system in a bundle (%s)", async (format) => {
  const folder = temporaryFolder();
  await build({
    entry: { store: OS_STORE },
    outDir: folder,
    config: false,
    format,
    outExtension: () => ({ js: format === "esm" ? ".mjs" : ".cjs" }),
    silent: true,
    tsconfig: join(import.meta.dirname, "../tsconfig.build.json"),
  });
  const file = JSON.stringify(join(folder, format === "esm" ? "store.mjs" : "store.cjs"));
  const program = `import(${file}).then(async (store) => {
    const [keytar] = await (store.default ?? store).describeCredentialBackends();
    console.log(keytar.detail);
  });`;
  const words = ["--input-type=module", "--eval", program];
  const stdout = execFileSync(process.execPath, words, { cwd: folder, encoding: "utf8" });
  expect(stdout).toMatch(/helper\.js\. In a bundle, .* `helperUrl`;/);
});
