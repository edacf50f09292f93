import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { endWithTest } from "@millrace/test-support/processes";

/** A child process that runs a script of `children/` on the built package, ended with the test. */
export function startChild(script: string, args: readonly string[], input = new Uint8Array()) {
  const path = fileURLToPath(new URL(`./children/${script}`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = endWithTest(child);
  child.stdin.end(input);
  return {
    firstOutput: once(child.stdout, "data"),
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
    exitCode: ended,
  };
}
