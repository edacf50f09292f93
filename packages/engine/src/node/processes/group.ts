/**
 * A program and whatever it has started, as far as that has stayed in its process group.
 *   G1  Once the group was seen empty nothing is sent to it: its number may be somebody else's by then.
 *   G2  Ending takes at most `KILL_AFTER_MS`, whatever the processes do.
 *   G3  When this process exits, a group that is still there is killed.
 * On Windows there are no such groups; there it is the program alone.
 */

import type { ChildProcess } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

const KILL_AFTER_MS = 2_000; // time to put things in order after SIGTERM
const LOOK_EVERY_MS = 25; // whether the group is empty; nothing tells it

/** Groups that are not known to be gone. */
const live = new Set<ProcessGroup>();

function killAll(): void {
  for (const group of live) group.kill();
}

export class ProcessGroup {
  readonly #child: ChildProcess;
  /** All output is read. */
  readonly #closed: Promise<void>;
  #empty = false;
  #isOver = false;
  #timer: NodeJS.Timeout | null = null;
  #killed: Promise<void> | null = null;
  #gone: Promise<void> | null = null;

  /** The group that `child` leads, which has just been started. */
  constructor(child: ChildProcess) {
    this.#child = child;
    this.#closed = new Promise((resolve) => child.once("close", () => resolve()));
    if (live.size === 0) process.on("exit", killAll);
    live.add(this);
  }

  /** Asks all of it to end, and kills what has not ended in time. */
  end(): void {
    if (this.#killed === null) this.#send("SIGTERM");
    this.#killed ??= this.#killLater();
  }

  /** Kills all of it at once. */
  kill(): void {
    this.#send("SIGKILL");
  }

  /** Ends the processes that are left. Resolves when the output is read and none is left. */
  gone(): Promise<void> {
    this.#gone ??= this.#end().finally(() => {
      live.delete(this);
      if (live.size === 0) process.off("exit", killAll);
    });
    return this.#gone;
  }

  async #end(): Promise<void> {
    if (this.#isAlive()) this.end();
    this.#killed ??= this.#killLater(); // for processes that have left the group and hold the output open
    await Promise.race([Promise.all([this.#closed, this.#vanished()]), this.#killed]);
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #killLater(): Promise<void> {
    return new Promise((resolve) => {
      this.#timer = setTimeout(() => {
        this.#send("SIGKILL");
        const { stdin, stdout, stderr } = this.#child;
        for (const pipe of [stdin, stdout, stderr]) pipe?.destroy();
        resolve();
      }, KILL_AFTER_MS);
    });
  }

  async #vanished(): Promise<void> {
    while (!this.#isOver && this.#isAlive()) {
      if (!(await hasLiving(this.#child.pid as number))) this.#empty = true;
      else await pause(LOOK_EVERY_MS);
    }
  }

  #isAlive(): boolean {
    return this.#send(0);
  }

  /** Whether there was somebody to send it to. */
  #send(signal: NodeJS.Signals | 0): boolean {
    if (this.#empty) return false;
    const { pid } = this.#child;
    try {
      if (process.platform === "win32") this.#empty = !this.#child.kill(signal);
      else process.kill(-(pid as number), signal);
    } catch {
      this.#empty = true; // none is left, or only processes that this one may not end
    }
    return !this.#empty;
  }
}

/**
 * On Linux the dead that nobody has taken note of do not count: under a first process that reaps late or never, as in many
 * containers, they stay in the group for ever. Elsewhere the answer is yes, as the signal that was sent found somebody.
 */
async function hasLiving(group: number): Promise<boolean> {
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
