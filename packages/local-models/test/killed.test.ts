import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@millrace/test-support/folder";
import { tinyGguf } from "@millrace/test-support/gguf";
import { expect, onTestFinished, test } from "vitest";
import { openFileServer } from "./file-server.ts";
import { openManager, sha256 } from "./opened.ts";

const MIB = 1_048_576;
const SYNC = 16 * MIB; // how often the state file is written
const HERE = fileURLToPath(new URL(".", import.meta.url));

/** A process that installs a model, bundled from the sources. */
const INSTALLER = `
import { createNodeHost } from "@millrace/engine/node";
import { createModelManager } from "../src/index.ts";
const [, , dir, url, sha256] = process.argv;
const fetch = createNodeHost().openFetch({ allow: [{ cidr: "127.0.0.0/8" }], maxResponseBytes: 1e12 });
createModelManager({ dir, enginesDir: dir + "-engines", fetch, sink: { emit() {} } }).install({ source: url, id: "big", sha256 });
`;

async function bundled(): Promise<string> {
  const root = createRequire(new URL("../../../package.json", import.meta.url));
  const { build } = createRequire(root.resolve("tsup"))("esbuild") as {
    build(options: object): Promise<unknown>;
  };
  const cache = join(HERE, "../node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "installer-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, "installer.mjs");
  await build({
    stdin: { contents: INSTALLER, resolveDir: HERE, loader: "ts" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["@millrace/source"],
    logLevel: "silent",
    outfile,
  });
  return outfile;
}

/** Bytes that the state files of a folder vouch for. */
function vouched(downloads: string): number {
  try {
    const states = readdirSync(downloads).filter((name) => name.endsWith(".json"));
    return states.reduce(
      (sum, name) => sum + JSON.parse(readFileSync(join(downloads, name), "utf8")).bytes,
      0,
    );
  } catch {
    return 0; // it is being replaced, or is not there yet
  }
}

test("a process that is killed in the middle costs at most a tenth of the file", async () => {
  const body = Buffer.alloc(56 * MIB);
  tinyGguf().copy(body);
  const digest = sha256(body);
  const stallAt = 3 * SYNC + 2 * MIB;
  const server = await openFileServer();
  onTestFinished(() => server.close());
  const url = server.serve("/big.gguf", { body }, [{ stallAt }]);
  const dir = join(temporaryFolder(), "models");
  const child = spawn(process.execPath, [await bundled(), dir, url, digest], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said: string[] = [];
  child.stderr.setEncoding("utf8").on("data", (text: string) => void said.push(text));
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  while (vouched(join(dir, "downloads")) < 3 * SYNC && child.exitCode === null) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(said.join("")).toBe("");
  child.kill("SIGKILL");
  await gone;

  const opened = openManager({ dir });
  await opened.manager.scanned;
  expect(opened.manager.get("big")).toMatchObject({ state: "installing", sha256: digest });
  const job = await opened.ended(
    opened.manager.install({ source: url, id: "big", sha256: digest }),
  );
  expect(job.error).toBeNull();
  expect(opened.manager.get("big")).toMatchObject({
    state: "ready",
    bytes: body.length,
    verified: true,
  });
  expect(opened.files()).toEqual(["files/big.gguf"]);
  expect(server.asked.map(({ status }) => status)).toEqual([200, 206]);
  expect(server.asked.reduce((sum, { sent }) => sum + sent, 0)).toBeLessThanOrEqual(
    1.1 * body.length,
  );
});
