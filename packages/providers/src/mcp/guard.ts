/**
 * A watcher that outlives this process: should we be killed without a word, it ends the group of a server that does not end
 * by itself when its input does. It holds one pipe of ours; the end of that pipe is the sign.
 */
import { type ChildProcess, spawn } from "node:child_process";

/** Waits for the end of its input, then as `end` of `ServerProcess` does: patience, SIGTERM, patience, SIGKILL. */
const SCRIPT =
  'read -r _; sleep 2; kill -s TERM -- "-$1" || exit 0; sleep 2; kill -s KILL -- "-$1"';

/** Watches over the process group `group`; the answer calls the watcher off. Does nothing on Windows, which has no groups. */
export function guard(group: number): () => void {
  if (process.platform === "win32") return () => {};
  const watcher: ChildProcess = spawn("/bin/sh", ["-c", SCRIPT, "sh", String(group)], {
    detached: true, // a signal of the terminal is not meant for it
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: "/usr/bin:/bin" },
    cwd: "/",
  });
  watcher.on("error", () => {}); // a system without a shell has no watcher
  watcher.stdin?.on("error", () => {});
  watcher.unref();
  return () => {
    watcher.kill("SIGKILL");
    watcher.stdin?.destroy();
  };
}
