/** Standard output and error of an extension's process, in lines, for its developer. */
import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";

const MAX_LINE = 8_192; // characters; a longer line is cut, so that one without an end needs no memory
const LINES_A_SECOND = 1_000; // as of a log; a loop that prints has no further end

/** A line that an extension has written outside of its log. */
export interface OutputLine {
  /** Its name in the list of extensions. */
  readonly extension: string;
  readonly stream: "stdout" | "stderr";
  readonly text: string;
}

/** Hands every line to `take`. Resolves when both streams have ended. */
export async function readOutput(
  { stdout, stderr }: ChildProcess,
  take: (stream: "stdout" | "stderr", text: string) => void,
): Promise<void> {
  const limit = limitLines(LINES_A_SECOND);
  const limited = (stream: "stdout" | "stderr") => (text: string) => {
    const shown = limit(text);
    if (shown !== undefined) take(stream, shown);
  };
  await Promise.all([
    stdout && eachLine(stdout, limited("stdout")),
    stderr && eachLine(stderr, limited("stderr")),
  ]);
}

function eachLine(stream: Readable, take: (text: string) => void): Promise<void> {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = (lines.pop() as string).slice(0, MAX_LINE);
    for (const line of lines) take(line.slice(0, MAX_LINE));
  });
  return new Promise((resolve) => {
    stream.once("close", () => {
      if (rest !== "") take(rest);
      resolve();
    });
  });
}

/** Lets so many lines a second pass; in place of the last of them it says that more are dropped. */
export function limitLines(max: number): (text: string) => string | undefined {
  let second = 0;
  let lines = 0;
  return (text) => {
    const now = Math.floor(Date.now() / 1_000);
    if (now !== second) lines = 0;
    second = now;
    lines += 1;
    if (lines > max) return undefined;
    return lines === max ? "more lines of this second are dropped" : text;
  };
}
