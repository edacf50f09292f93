/** A program that was bundled: its store has a writer, or says at once why it has none. */
import { execFile } from "node:child_process";
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openStore } from "@millrace/store";
import { temporaryFolder } from "@millrace/test-support/folder";
import { expect, test } from "vitest";

const root = createRequire(new URL("../../../package.json", import.meta.url));
/** The bundler that tsup brings. */
const { build } = createRequire(root.resolve("tsup"))("esbuild") as {
  build(options: object): Promise<unknown>;
};

const PROGRAM = `import { openStore } from "@millrace/store";
const { dir, workerUrl } = JSON.parse(process.argv[2]);
openStore({ dir, ...(workerUrl && { workerUrl }) }).then(
  async (store) => {
    await store.settings.set({ answer: 42 });
    console.log(JSON.stringify({ condition: store.condition }));
    await store.close();
  },
  (error) => console.log(JSON.stringify({ code: error.code, message: error.message })),
);`;

const common = {
  bundle: true,
  platform: "node",
  conditions: ["@millrace/source"],
  external: ["libsql"],
  logLevel: "silent",
};

/** Bundles the program as `app.(m)js`; the function runs it. */
async function bundled(format: "esm" | "cjs") {
  const folder = temporaryFolder();
  const file = join(folder, format === "esm" ? "app.mjs" : "app.cjs");
  await build({
    ...common,
    stdin: { contents: PROGRAM, resolveDir: import.meta.dirname, loader: "ts" },
    outfile: file,
    format,
  });
  const modules = fileURLToPath(new URL("../node_modules", import.meta.url)); // SQLite is no part of the bundle
  symlinkSync(modules, join(folder, "node_modules"));
  return {
    folder,
    async run(options: object = {}): Promise<{ [name: string]: string }> {
      const words = [file, JSON.stringify({ dir: join(folder, "data"), ...options })];
      const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: folder });
      return JSON.parse(stdout);
    },
  };
}

const worker = { entryPoints: { "writer-thread": "@millrace/store/writer-thread" } };

test.each(["esm", "cjs"] as const)(
  "without its writer a store of a bundle (%s) is not opened",
  async (format) => {
    const { run } = await bundled(format);
    const { code, message } = await run();
    expect(code).toBe("store_unavailable");
    expect(message).toMatch(
      /^the writer of the store could not start: .*writer-thread\.js is missing\. In a bundle, add @millrace\/store\/writer-thread to it and give its place as `workerUrl`$/,
    );
  },
);

test.each(["esm", "cjs"] as const)("with workerUrl it writes (%s)", async (format) => {
  const { folder, run } = await bundled(format);
  await build({
    ...common,
    ...worker,
    absWorkingDir: import.meta.dirname,
    outdir: folder,
    format: "esm",
    outExtension: { ".js": ".mjs" },
  });
  const workerUrl = join(folder, "writer-thread.mjs");
  expect(await run({ workerUrl })).toEqual({ condition: "ok" });
});

test("a program whose workerUrl is another file hears so, and does not just end", async () => {
  const { folder, run } = await bundled("esm");
  const other = join(folder, "other.mjs");
  writeFileSync(other, "export {};");
  expect(await run({ workerUrl: other })).toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining("other.mjs: it has ended without opening the database"),
  });
});

test("a writer that cannot run refuses the store and gives its lock back", async () => {
  const dir = temporaryFolder();
  const broken = join(temporaryFolder(), "writer.mjs");
  writeFileSync(broken, 'throw new Error("no thread here");');
  await expect(openStore({ dir, workerUrl: broken })).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining("no thread here"),
  });
  const store = await openStore({ dir });
  expect(store.condition).toBe("ok");
  await store.close();
  expect(existsSync(join(dir, "millrace.db"))).toBe(true);
});
