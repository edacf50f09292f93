// A command in this process, warm and without a screen.
import { Readable, Writable } from "node:stream";
import { main } from "@millrace/cli";

/** Milliseconds of the processor that a command takes in this folder. */
export async function inside(folder, words, isTerminal = false) {
  const sink = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  const before = process.cpuUsage();
  const code = await main(words, {
    stdin: Readable.from([]),
    stdout: sink(),
    stderr: sink(),
    env: { MILLRACE_HOME: folder, HOME: folder, LANG: "C.UTF-8", CI: "1" },
    cwd: folder,
    isTTY: { stdin: false, stdout: false, stderr: isTerminal },
    size: () => ({ columns: 80, rows: 24 }),
    now: Date.now,
    fetch: globalThis.fetch,
    signal: new AbortController().signal,
  });
  if (code !== 0) throw new Error(`exit ${code}`);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** What a busy machine adds is no cost of ours. */
export const least = (list) => Math.min(...list);
