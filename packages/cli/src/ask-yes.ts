/** One question to the person at the keyboard. */
import { createInterface } from "node:readline/promises";
import type { CommandIo } from "./command.ts";
import { CliError } from "./errors.ts";

/** Whether the answer begins with `y`; Enter alone is no. Ends with `cancelled` when the keyboard is gone, or on a signal. */
export async function askYes(io: CommandIo, question: string): Promise<boolean> {
  const lines = createInterface({ input: io.stdin, terminal: false });
  try {
    await io.err.write(`${question} [y/N] `);
    const [answer] = await Promise.race([
      new Promise<[string]>((resolve) => lines.once("line", (line) => resolve([line]))),
      new Promise<[string]>((resolve) => lines.once("close", () => resolve([""]))),
      new Promise<never>((_, reject) => {
        const end = () => reject(new CliError("cancelled", `ended by ${String(io.signal.reason)}`));
        if (io.signal.aborted) end();
        else io.signal.addEventListener("abort", end, { once: true });
      }),
    ]);
    return /^\s*y/i.test(answer);
  } finally {
    lines.close();
    io.stdin.pause();
  }
}
