/** A network of its own for a program: loopback and no route to anywhere. It needs the right to make network namespaces. */
import { execFileSync } from "node:child_process";
import { fileOf, machinePath } from "./programs.js";

/** Root by itself may do it; where it may not, and for everybody else, a namespace of users gives the right. */
const WAYS = ["-rn", "-n"];

/** Begins a shell line: the words that come after it are a command with its arguments. */
const UP = 'ip link set lo up && exec "$@"';

/** A command line that runs `words` without a network but loopback. For tests that say `testUnless(noLoneNetwork())`. */
export function inLoneNetwork(words: readonly string[]): readonly string[] {
  const way = wayOf();
  if (way === undefined) throw new Error("the test must say testUnless(noLoneNetwork())");
  return linesOf(way, words);
}

/** Why no network can be made here; undefined where one can. */
export function noLoneNetwork(): string | undefined {
  if (process.platform !== "linux") return "no Linux";
  for (const program of ["unshare", "ip"] as const) {
    if (fileOf(program) === undefined) return `no ${program}`;
  }
  return wayOf() === undefined ? "no right to make a network namespace" : undefined;
}

function linesOf(way: string, words: readonly string[]): readonly string[] {
  const unshare = fileOf("unshare") ?? "unshare";
  return [unshare, way, "env", `PATH=${machinePath()}`, "sh", "-c", UP, "sh", ...words];
}

function wayOf(): string | undefined {
  return WAYS.find((way) => {
    const [command = "", ...args] = linesOf(way, ["true"]);
    try {
      execFileSync(command, args, { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  });
}
