/**
 * The processes of runners as files, so that those of a manager that was killed can be found.
 *   O1  A process is ended only if its number and the time of its start are those of the file.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, startTimeOf } from "../process-identity.ts";

const FILE = /^\d+\.json$/;

/** Notes a live process; the answer takes the note away. Without room on the disk there is no note: it is a second net. */
export function noteProcess(dir: string, pid: number, model: string): () => void {
  const path = join(dir, `${pid}.json`);
  const text = JSON.stringify({ pid, startTime: startTimeOf(pid), model });
  try {
    writeFileSync(path, text, { mode: 0o600 });
  } catch {
    return () => {};
  }
  return () => rmSync(path, { force: true });
}

/** Ends processes that a previous manager left running. Returns how many there were. */
export function endOrphans(dir: string): number {
  let ended = 0;
  for (const name of readdirSync(dir).filter((each) => FILE.test(each))) {
    const path = join(dir, name);
    const noted = readNote(path);
    if (noted !== null && isAlive(noted) && killed(noted.pid)) ended += 1;
    rmSync(path, { force: true });
  }
  return ended;
}

/** False: it ended by itself in this moment, or belongs to another user. */
function killed(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}

function readNote(path: string): { readonly pid: number; readonly startTime: string } | null {
  try {
    const { pid, startTime } = JSON.parse(readFileSync(path, "utf8"));
    // Without the time of its start a number may mean anybody.
    return Number.isSafeInteger(pid) && pid > 0 && typeof startTime === "string"
      ? { pid, startTime }
      : null;
  } catch {
    return null;
  }
}
