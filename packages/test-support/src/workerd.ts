import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./folder.ts";
import { fileOf } from "./programs.js";

/** The newest day whose behaviour every workerd of the last year has. */
const COMPATIBILITY_DATE = "2025-11-01";

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      serviceWorkerScript = embed "worker.js",
      compatibilityDate = "${COMPATIBILITY_DATE}",
    )),
    (name = "internet", network = (allow = ["private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;

/**
 * Starts workerd with a script that listens to the event `fetch`, and answers its origin; it may call loopback and ends with the
 * test. For tests that need "workerd".
 */
export async function serveInWorkerd(script: string): Promise<string> {
  const file = fileOf("workerd");
  if (file === undefined) throw new Error('the test must say testWith("workerd")');
  const folder = temporaryFolder();
  writeFileSync(join(folder, "worker.js"), script);
  writeFileSync(join(folder, "config.capnp"), CONFIG);
  const child = spawn(file, ["serve", "--control-fd=3", join(folder, "config.capnp")], {
    stdio: ["ignore", "ignore", "pipe", "pipe"],
    detached: true, // the program of npm may be a script that starts the real one
  });
  onTestFinished(() => {
    if (child.exitCode === null) process.kill(-(child.pid as number), "SIGKILL");
  });
  let told = "";
  child.stderr?.on("data", (bytes: Buffer) => (told += bytes));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`workerd ended: ${told}`)));
    let lines = "";
    (child.stdio[3] as Readable).on("data", (bytes: Buffer) => {
      lines += bytes;
      const [, port] = /"event":"listen","socket":"http","port":(\d+)/.exec(lines) ?? [];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    });
  });
}
