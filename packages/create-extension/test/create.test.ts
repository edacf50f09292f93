/** A scaffold tests green as it is, with the packages as they are published and no network, and overwrites nothing. */
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createExtension, KINDS, main } from "@millrace/create-extension";
import { afterAll, expect, test } from "vitest";

const exec = promisify(execFile);
const PACKAGES = fileURLToPath(new URL("../../", import.meta.url));
/** Packages of others that ours need, and where they are installed. */
const OTHERS = [
  ["zod", "contracts"],
  ["semver", "engine"],
] as const;

/** Four runners of tests, one after the other, on a machine that has other things to do. */
const TIMEOUT_MS = 180_000;

interface Manifest {
  readonly files: readonly string[];
  readonly exports: object;
  readonly publishConfig: { readonly exports: object };
}

const root = mkdtempSync(join(tmpdir(), "millrace-create-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Puts the packages where npm would: each with the files that its tarball holds, other packages as they are installed here. */
function installPacked(): void {
  for (const name of ["contracts", "dsl", "engine", "testkit"]) {
    const at = join(root, "node_modules/@millrace", name);
    const file = JSON.parse(readFileSync(join(PACKAGES, name, "package.json"), "utf8")) as Manifest;
    for (const path of file.files.filter((each) => existsSync(join(PACKAGES, name, each)))) {
      cpSync(join(PACKAGES, name, path), join(at, path), { recursive: true });
    }
    // What a publication does with `publishConfig`.
    const published = { ...file, exports: file.publishConfig.exports };
    writeFileSync(join(at, "package.json"), JSON.stringify(published));
  }
  for (const [name, owner] of OTHERS) {
    const link = join(PACKAGES, owner, "node_modules", name);
    symlinkSync(realpathSync(link), join(root, "node_modules", name));
  }
}

test(
  "each kind is written, tests green offline, and is refused where a file is there",
  async () => {
    installPacked();
    for (const kind of KINDS) {
      const folder = join(root, kind);
      const paths = await createExtension({ kind, name: `@acme/millrace-${kind}s`, folder });
      expect(paths).toContain("src/extension.js");
      expect(paths).toContain(".github/workflows/ci.yml");
      const { stdout } = await exec(process.execPath, ["--test"], { cwd: folder }).catch(
        (error: { stdout: string }) => error,
      );
      expect(stdout, stdout).toMatch(/(?:#|ℹ) fail 0/);
      expect(stdout).toMatch(/(?:#|ℹ) pass [1-9]\d*/);
      const before = readFileSync(join(folder, "README.md"), "utf8");
      await expect(createExtension({ kind, name: "other", folder })).rejects.toThrow(
        /README\.md.* exist already; nothing was written/,
      );
      expect(readFileSync(join(folder, "README.md"), "utf8")).toBe(before);
    }
  },
  TIMEOUT_MS,
);

test("the command says what it wrote, and what it wants", async () => {
  const told: string[] = [];
  const io = {
    cwd: root,
    out: (line: string) => void told.push(line),
    err: (line: string) => void told.push(line),
  };
  expect(await main(["--name", "weather"], io)).toBe(0);
  expect(told.at(-1)).toMatch(/^next: cd .*weather && npm install && npm test$/);
  expect(readdirSync(join(root, "weather"))).toContain("package.json");
  expect(await main(["--kind", "nonsense", "--name", "x"], io)).toBe(2);
  expect(told.at(-1)).toBe('--kind is one of action, provider, node, service, not "nonsense"');
  expect(await main(["--name", "No Name"], io)).toBe(2);
  expect(await main(["--name", "weather"], io)).toBe(2);
});
