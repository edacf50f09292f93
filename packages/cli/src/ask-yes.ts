/** One question to the person at the keyboard. */
import { createInterface } from "node:readline";
import type { CommandIo } from "./command.ts";
import { interruptible } from "./interrupt.ts";

/** Whether the answer begins with `y`; Enter alone is no, and so is a keyboard that is gone. Ends with `cancelled` on a signal. */
export async function askYes(io: CommandIo, question: string): Promise<boolean> {
  const lines = createInterface({ input: io.stdin, terminal: false });
  try {
    // Who types ahead is heard as well.
    const answer = new Promise<string>((resolve) => {
      lines.once("line", resolve);
      lines.once("close", () => resolve(""));
    });
    await io.err.write(`${question} [y/N] `);
    return /^\s*y/i.test(await interruptible(io.signal, answer));
  } finally {
    lines.close();
    io.stdin.pause();
  }
}
