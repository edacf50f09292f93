/** Asks the person at the keyboard about open confirmations: `y` approves, `n` rejects, `v` shows the whole text. */

import type { CommandIo } from "../argv/spec.ts";
import { formatDuration } from "../argv/values.ts";
import { clean, cleanLine } from "../output/text.ts";
import type { LiveRun } from "./live-run.ts";

// Raw mode delivers these as characters.
const INTERRUPT = "\u0003";
const SUSPEND = "\u001a";

/** Listens until `close`. The oldest open confirmation is the one that is answered. */
export function createPrompter(
  run: Pick<LiveRun, "open" | "answer">,
  io: CommandIo,
  say: (line: string) => void,
): { close(): void } {
  const stdin = io.stdin as NodeJS.ReadStream;
  const announced = new Set<string>();
  const onData = (chunk: Buffer | string): void => {
    for (const key of String(chunk)) {
      if (key === INTERRUPT) process.kill(process.pid, "SIGINT");
      else if (key === SUSPEND) process.kill(process.pid, "SIGTSTP");
      else void press(key.toLowerCase());
    }
  };
  const press = async (key: string): Promise<void> => {
    const open = run.open();
    if (open === undefined) return;
    if (key === "v") say(open.prompt.split("\n").map(clean).join("\n"));
    if (key !== "y" && key !== "n") return;
    const refused = await run.answer(open.id, {
      decision: key === "y" ? "approve" : "reject",
      by: "cli",
    });
    if (refused !== undefined) say(`${open.node}: ${refused}`);
  };
  const announce = setInterval(() => {
    const open = run.open();
    if (open === undefined || announced.has(open.id)) return;
    announced.add(open.id);
    const left = open.deadline === undefined ? undefined : Math.max(0, open.deadline - io.now());
    const until = left === undefined ? "" : `  expires in ${formatDuration(left)}`;
    say(
      `? ${clean(open.node)}: ${cleanLine(open.prompt)}  [y] approve  [n] reject  [v] view${until}`,
    );
  }, 50);
  announce.unref();
  stdin.setRawMode?.(true);
  stdin.on("data", onData);
  stdin.resume();
  return {
    close() {
      clearInterval(announce);
      stdin.off("data", onData);
      stdin.setRawMode?.(false);
      stdin.pause();
    },
  };
}
