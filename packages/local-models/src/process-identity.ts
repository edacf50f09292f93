/** Which process a number means: numbers are given out again, so a process is its number and the time of its start. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** A process, as files name it. `startTime` null: the platform does not tell. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string | null;
}

/** Opaque text that two processes of one number do not share; null when there is no such process, or nobody tells. */
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

/** Whether the process is alive and is the one that was meant. */
export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  return startTime === startTimeOf(pid);
}
