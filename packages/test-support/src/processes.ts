/** Processes that tests start, or whose end they wait for. */
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { onTestFinished } from "vitest";

/** Kills a process when its test has ended; resolves to its exit code when it is gone. */
export function endWithTest(child: ChildProcess): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return ended;
}

/** Whether a process runs; one that has ended and that its parent has not waited for does not. */
export function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    const stat = `/proc/${pid}/stat`;
    return !existsSync("/proc/self/stat") || !/\) [ZX] /.test(readFileSync(stat, "utf8"));
  } catch {
    return false;
  }
}
