/** A process of its own that works on a store. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { onTestFinished } from "vitest";

/** A child, its lines so far, and its end. */
export interface Child {
  readonly process: ChildProcessByStdio<null, Readable, Readable>;
  readonly lines: string[];
  readonly exited: Promise<void>;
  /** Resolves when it has written so many lines; rejects when it ends before. */
  until(count: number): Promise<void>;
}

export function startChild(path: string, args: readonly string[]): Child {
  const child = spawn(process.execPath, [path, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const lines: string[] = [];
  const watchers = new Set<() => void>();
  let rest = "";
  let errors = "";
  let isOver = false;
  child.stderr.on("data", (data: Buffer) => {
    errors += data.toString();
  });
  child.stdout.on("data", (data: Buffer) => {
    const parts = (rest + data.toString()).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    for (const watch of watchers) watch();
  });
  const exited = new Promise<void>((done) => {
    child.once("close", () => {
      isOver = true;
      for (const watch of watchers) watch();
      done();
    });
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  return {
    process: child,
    lines,
    exited,
    until: (count) =>
      new Promise((resolve, reject) => {
        const watch = (): void => {
          if (lines.length >= count) resolve();
          else if (isOver)
            reject(new Error(`the child ended after ${lines.length} lines: ${errors}`));
          else return;
          watchers.delete(watch);
        };
        watchers.add(watch);
        watch();
      }),
  };
}
