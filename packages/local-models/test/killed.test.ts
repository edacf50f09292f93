import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@millrace/test-support/folder";
import { tinyGguf } from "@millrace/test-support/gguf";
import { bundleProgram } from "@millrace/test-support/program";
import { expect, onTestFinished, test } from "vitest";
import { openFileServer } from "./file-server.ts";
import { openManager, sha256 } from "./opened.ts";

const MIB = 1_048_576;
const SYNC = 16 * MIB; // how often the state file is written

/** A process that installs a model, bundled from the sources. */
const INSTALLER = `
import { createNodeHost } from "@millrace/engine/node";
import { createModelManager } from "../src/index.ts";
const [, , dir, url, sha256] = process.argv;
const fetch = createNodeHost().openFetch({ allow: [{ cidr: "127.0.0.0/8" }], maxResponseBytes: 1e12 });
createModelManager({ dir, enginesDir: dir + "-engines", fetch, sink: { emit() {} } }).install({ source: url, id: "big", sha256 });
`;

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
  const child = spawn(
    process.execPath,
    [await bundleProgram(INSTALLER, import.meta.url), dir, url, digest],
    {
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
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
