/** Whether somebody of a process group still runs. */
import { readdir, readFile } from "node:fs/promises";

/**
 * On Linux the dead that nobody has taken note of do not count: under a first process that reaps late or never, as in many
 * containers, they stay in the group for ever. Elsewhere the answer is yes, as the signal that was sent found somebody.
 */
export async function hasLiving(group: number): Promise<boolean> {
  if (process.platform !== "linux") return true;
  const names = await readdir("/proc").catch(() => null);
  if (names === null) return true;
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    // It is `pid (name) state parent group …`; the name may hold anything (proc_pid_stat(5)).
    const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
    const [state, , of] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (Number(of) === group && state !== "Z" && state !== "X") return true;
  }
  return false;
}
