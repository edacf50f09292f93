/** Secrets on their way in: from stdin, or typed where nobody sees them. */
import type { CommandIo } from "./command.ts";
import { CliError, usage } from "./errors.ts";
import { readInput } from "./flow-source.ts";

/** Longest secret that is taken; tokens have some thousand characters. */
const MAX_SECRET_CHARACTERS = 16_384;

const INTERRUPT = "\u0003";
const END = "\u0004";

/** What stdin holds, without the line end that a shell adds. Throws a usage error when that is nothing or too much. */
export async function secretFromStdin(io: CommandIo, what: string): Promise<string> {
  const text = new TextDecoder().decode(await readInput("-", io)).replace(/\r?\n$/, "");
  return checked(text, what);
}

/** Asks at the keyboard and shows nothing of the answer. */
export async function askSecret(io: CommandIo, what: string): Promise<string> {
  return checked(await askHidden(io, what), what);
}

/** A secret from the person at the keyboard, else from stdin, unless that is a terminal where it would be seen. */
export async function readSecret(io: CommandIo, what: string): Promise<string> {
  if (io.interactive) return askSecret(io, what);
  if (!io.isTTY.stdin) return secretFromStdin(io, what);
  throw usage(`nobody can be asked for ${what} here`, "give it on stdin");
}

function checked(text: string, what: string): string {
  if (text === "") throw usage(`${what} is empty`, "give it on stdin, or at the prompt");
  if (text.length > MAX_SECRET_CHARACTERS || /[\r\n\0]/.test(text)) {
    throw usage(`${what} must be one line of at most ${MAX_SECRET_CHARACTERS} characters`);
  }
  return text;
}

/** Characters up to Enter, in raw mode, so that the terminal echoes none. */
async function askHidden(io: CommandIo, what: string): Promise<string> {
  const stdin = io.stdin as NodeJS.ReadStream;
  await io.err.write(`${what}: `);
  stdin.setRawMode?.(true);
  stdin.resume();
  try {
    return await new Promise<string>((resolve, reject) => {
      let typed = "";
      const end = (act: () => void): void => {
        stdin.off("data", onData);
        io.signal.removeEventListener("abort", onAbort);
        act();
      };
      const onAbort = (): void => {
        end(() => reject(new CliError("cancelled", `ended by ${String(io.signal.reason)}`)));
      };
      const onData = (chunk: Buffer | string): void => {
        for (const key of String(chunk)) {
          if (key === INTERRUPT) process.kill(process.pid, "SIGINT");
          else if (key === "\r" || key === "\n" || key === END) {
            end(() => resolve(typed));
            return;
          } else if (key === "\u007f" || key === "\b") typed = [...typed].slice(0, -1).join("");
          else typed += key;
        }
      };
      stdin.on("data", onData);
      io.signal.addEventListener("abort", onAbort, { once: true });
    });
  } finally {
    stdin.setRawMode?.(false);
    stdin.pause();
    await io.err.write("\n");
  }
}
