/** The command as a function: `main` with a world of its own. */
import { Readable, Writable } from "node:stream";
import { type CliIo, main } from "@millrace/cli";
import { expect } from "vitest";
import { type Ended, scratch } from "./cli.ts";

export interface World {
  readonly files?: Record<string, string>;
  readonly cwd?: string;
  readonly stdin?: string;
  readonly env?: Record<string, string>;
  readonly terminal?: boolean;
  readonly columns?: number | (() => number);
  readonly keys?: Readable;
  readonly signal?: AbortSignal;
  /** In the place of the stdout that is collected. */
  readonly stdout?: Writable;
  /** In the place of the stderr that is collected. */
  readonly stderr?: Writable;
}

export interface Told {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** How often something was written to stderr. */
  readonly writes: number;
  readonly cwd: string;
}

function collector(): { stream: Writable; text: () => string; writes: () => number } {
  let text = "";
  let writes = 0;
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      writes += 1;
      done();
    },
  });
  return { stream, text: () => text, writes: () => writes };
}

/** Runs one command line in this process. */
export async function inside(words: readonly string[], world: World = {}): Promise<Told> {
  const cwd = world.cwd ?? scratch(world.files);
  const out = collector();
  const err = collector();
  const tty = world.terminal ?? false;
  const { columns = 80 } = world;
  const io: CliIo = {
    stdin: world.keys ?? Readable.from(world.stdin === undefined ? [] : [Buffer.from(world.stdin)]),
    stdout: world.stdout ?? out.stream,
    stderr: world.stderr ?? err.stream,
    env: { HOME: cwd, XDG_CONFIG_HOME: cwd, LANG: "C.UTF-8", ...world.env },
    cwd,
    isTTY: { stdin: tty, stdout: tty, stderr: tty },
    size: () => ({ columns: typeof columns === "number" ? columns : columns(), rows: 24 }),
    now: Date.now,
    fetch,
    signal: world.signal ?? new AbortController().signal,
  };
  const code = await main(words, io);
  return { code, stdout: out.text(), stderr: err.text(), writes: err.writes(), cwd };
}

/** Each line of words must end with its code, say this on stderr, and write nothing to stdout. */
export async function refusals(
  run: (words: readonly string[]) => Promise<Told>,
  cases: readonly (readonly [words: string | readonly string[], code: number, says: string])[],
): Promise<void> {
  for (const [words, code, says] of cases) {
    const told = await run(typeof words === "string" ? words.split(" ") : words);
    const stderr = expect.stringContaining(says);
    expect([words, told.code, told.stdout, told.stderr]).toEqual([words, code, "", stderr]);
  }
}

/** A flow of these lines. */
export function flow(...lines: string[]): string {
  return `flow 1 x\n\n${lines.join("\n")}\n`;
}

/**
 * Runs one command line in this process as `millrace` of `cli.ts` runs it in one of its own: an empty home, no terminal. For what is
 * about messages and answers; signals, terminals and what outlives a process need the other one.
 */
export async function millrace(
  words: readonly string[],
  options: Pick<World, "cwd" | "stdin" | "env"> = {},
): Promise<Ended> {
  const home = scratch();
  const { code, stdout, stderr } = await inside(words, {
    cwd: options.cwd ?? home,
    stdin: options.stdin ?? "",
    env: { HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home, NO_COLOR: "1", ...options.env },
  });
  return { code, signal: null, stdout, stderr };
}
