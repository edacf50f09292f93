/**
 * Ends the processes of extensions when their host is gone without having ended them. A process notices by its pipe that its host
 * is gone, but not while its code never gives up the thread, and the permission model leaves it no thread of ours: so something
 * small outside of it waits for the end of the host.
 *   R1  It outlives the host by no more than it takes to end what is left, whatever ends the host.
 *   R2  Where there is no shell there is no reaper: such code then goes on until somebody ends it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Writable } from "node:stream";

/** Keeps the process ids that it is told, `+ 12` and `- 12`, and ends the remaining ones when its input ends. */
const PROGRAM = `live=" "
while read -r op pid; do
  case $op in
    +) live="$live$pid " ;;
    -) live="\${live%% "$pid" *} \${live#* "$pid" }" ;;
  esac
done
[ "$live" = " " ] || kill -9 $live`;

/** Numbers of the processes that are to end: one that was ended itself leaves them to the next, which the next process starts. */
const live = new Set<number>();
let told: Writable | undefined;

/** Has a process ended with this one. It is forgotten when it ends. Never throws. */
export function reapWithHost(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined || process.platform === "win32") return;
  live.add(pid);
  if (told === undefined) start();
  else told.write(`+ ${pid}\n`);
  child.once("exit", () => {
    live.delete(pid);
    told?.write(`- ${pid}\n`);
  });
}

/** Starts one and tells it all that is live. */
function start(): void {
  let made: ChildProcess;
  try {
    // A group of its own: what ends a whole group, such as a terminal, is not to end it before it has done its work.
    made = spawn("/bin/sh", ["-c", PROGRAM], {
      cwd: "/",
      detached: true,
      env: {},
      stdio: ["pipe", "ignore", "ignore"],
    });
  } catch {
    return; // R2; a host that can start no more processes has other troubles
  }
  const { stdin } = made;
  made.on("error", () => {}); // R2
  stdin?.on("error", () => {});
  made.on("exit", () => {
    if (told === stdin) told = undefined;
  });
  if (!stdin) return; // there was no descriptor left for it
  told = stdin;
  for (const pid of live) stdin.write(`+ ${pid}\n`);
  made.unref();
  (stdin as unknown as { unref(): void }).unref();
}
