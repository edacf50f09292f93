/** Process and terminal become a `CliIo`. `--version` and `completion` are answered before anything else is loaded. */

import { readFileSync } from "node:fs";
import module from "node:module";
import { main } from "./main.ts";
import { isReaderGone, wholeWrites } from "./output/stdout.ts";

/** A finished command whose handles keep the process alive is a bug; this is how long it may hide. */
const STUCK_MS = 2_000;
const STUCK_EXIT_CODE = 70;
const LOST_OUTPUT_EXIT_CODE = 74;
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
const SHOW_CURSOR = "\u001b[?25h";

/** Runs the command line of this process. `exitNow` ends the process at once and is called only when it must be. */
export async function start(exitNow: (code: number) => void): Promise<void> {
  const argv = process.argv.slice(2);
  const known = answer(argv);
  if (known !== undefined) {
    const failed = (error: NodeJS.ErrnoException): void => {
      if (isReaderGone(error)) return; // a reader that has left needs no answer
      process.stderr.write(`error: cannot write to stdout: ${error.code}\n`);
      process.exitCode = LOST_OUTPUT_EXIT_CODE;
    };
    wholeWrites(process.stdout).on("error", failed).write(known);
    return;
  }
  // Absent on Node 20.
  (module as { enableCompileCache?: () => void }).enableCompileCache?.();
  const controller = new AbortController();
  let signals = 0;
  const onSignal = (signal: keyof typeof EXIT_CODES): void => {
    signals += 1;
    if (signals > 1) {
      if (process.stderr.isTTY) process.stderr.write(SHOW_CURSOR);
      exitNow(EXIT_CODES[signal]); // what steps have started is killed by that
    } else controller.abort(signal === "SIGTERM" ? "sigterm" : "sigint");
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  if (process.platform !== "win32") process.on("SIGTSTP", suspend);
  process.exitCode = await main(argv, {
    stdin: process.stdin,
    stdout: wholeWrites(process.stdout),
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    isTTY: {
      stdin: process.stdin.isTTY === true,
      stdout: process.stdout.isTTY === true,
      stderr: process.stderr.isTTY === true,
    },
    size: terminalSize,
    now: () => Date.now(),
    fetch: (url, init) => globalThis.fetch(url, init),
    signal: controller.signal,
  });
  process.stdin.destroy();
  setTimeout(() => {
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
    // A read that never ends would outlive even an exit; the signal itself ends what it interrupted.
    if (controller.signal.aborted) {
      process.kill(process.pid, controller.signal.reason === "sigterm" ? "SIGTERM" : "SIGINT");
    } else exitNow(STUCK_EXIT_CODE);
  }, STUCK_MS).unref();
}

/** Stops with a usable terminal, and takes it back afterwards; the next frame hides the cursor again. */
function suspend(): void {
  const { stdin, stderr } = process;
  const raw = stdin.isRaw === true;
  if (raw) stdin.setRawMode(false);
  if (stderr.isTTY) stderr.write(SHOW_CURSOR);
  process.kill(process.pid, "SIGSTOP");
  if (raw) stdin.setRawMode(true);
}

/** Requests that need only a file beside the command: the version, and the scripts of shells. */
function answer([word, shell = "", ...rest]: readonly string[]): string | undefined {
  if (word === "--version" || word === "-V") {
    const file = new URL("../package.json", import.meta.url);
    return `${(JSON.parse(readFileSync(file, "utf8")) as { version: string }).version}\n`;
  }
  if (word !== "completion" || rest.length > 0 || !/^(?:bash|zsh|fish)$/.test(shell)) return;
  try {
    return readFileSync(new URL(`./completion/${shell}`, import.meta.url), "utf8");
  } catch {
    return undefined; // not built yet: the command itself makes it
  }
}

/** As the terminal is at this moment: `columns` of the stream is older, and what was drawn would be erased by a width that was. */
function terminalSize(stream: "stdout" | "stderr" = "stderr"): {
  readonly columns: number | undefined;
  readonly rows: number | undefined;
} {
  if (!process[stream].isTTY) return { columns: undefined, rows: undefined };
  const [columns, rows] = process[stream].getWindowSize();
  return { columns, rows };
}
