/**
 * Ends the processes of extensions when their host is gone without having ended them. A process notices by its pipe that its host
 * is gone, but not while its code never gives up the thread, and the permission model leaves it no thread of ours: so something
 * small outside of it waits for the end of the host.
 *   R1  It outlives the host by no more than it takes to end what is left, whatever ends the host.
 *   R2  Where there is no shell there is no reaper: such code then goes on until somebody ends it.
 */
import { type ChildProcess, spawn } from "node:child_process";

/** Keeps the numbers that it is told, `+ 12` and `- 12`, and ends those that are left when nobody can tell it more. */
const PROGRAM = `live=" "
while read -r op pid; do
  case $op in
    +) live="$live$pid " ;;
    -) live="\${live%% "$pid" *} \${live#* "$pid" }" ;;
  esac
done
[ "$live" = " " ] || kill -9 $live`;

let reaper: ChildProcess | undefined;

/** Has a process ended with this one. It is forgotten when it ends. */
export function reapWithHost(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined || process.platform === "win32") return;
  reaper ??= start();
  const { stdin } = reaper;
  stdin?.write(`+ ${pid}\n`);
  child.once("exit", () => stdin?.write(`- ${pid}\n`));
}

function start(): ChildProcess {
  // A group of its own: what ends a whole group, such as a terminal, is not to end it before it has done its work.
  const made = spawn("/bin/sh", ["-c", PROGRAM], {
    detached: true,
    env: {},
    stdio: ["pipe", "ignore", "ignore"],
  });
  made.on("error", () => {}); // R2
  made.on("exit", () => {
    if (reaper === made) reaper = undefined;
  });
  made.stdin.on("error", () => {});
  made.unref();
  (made.stdin as unknown as { unref(): void }).unref();
  return made;
}
