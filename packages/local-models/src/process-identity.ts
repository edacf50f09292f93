/** Identity of a process: pid and start time, because pids are reused. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** A process as files refer to it. `startTime` null: unknown on this platform. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string | null;
}

/** Start time of a pid as opaque text, to tell a reused pid apart; null if there is no such process or it is unknown. */
export function startTimeOf(pid: number): string | null {
  try {
    if (process.platform === "linux") {
      // Field 22; the name of the program, field 2, may hold blanks and parentheses. @see proc_pid_stat(5)
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
    }
    if (process.platform === "win32") return null;
    const started = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return started.trim() || null;
  } catch {
    return null;
  }
}

/** True if the process is alive and its pid was not reused. */
export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  return startTime === startTimeOf(pid);
}
