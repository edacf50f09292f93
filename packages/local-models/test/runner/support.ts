/** Runners with a clock, a machine and processes that a test decides on; and the real engine, where it can be loaded. */
import { type ChildProcess, fork } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@millrace/test-support/folder";
import { onTestFinished } from "vitest";
import type { Machine } from "../../src/runner/machine.ts";
import { Runners } from "../../src/runner/runners.ts";
import type { RunnableModel } from "../../src/runner/sizing.ts";
import type { RunnersContext } from "../../src/runner/slot.ts";

const MIB = 1_048_576;

/** The engine of this workspace. */
export const ENGINE: string = new URL(
  "../../node_modules/node-llama-cpp/dist/index.js",
  import.meta.url,
).href;

/** A clock that stands still. */
export function handClock() {
  let now = Date.UTC(2026, 0, 5, 10);
  const timers = new Set<{ at: number; fn: () => void }>();
  return {
    now: () => now,
    setTimer(fn: () => void, ms: number) {
      const timer = { at: now + ms, fn };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(ms: number) {
      now += ms;
      for (const timer of [...timers].sort((a, b) => a.at - b.at)) {
        if (timer.at <= now && timers.delete(timer)) timer.fn();
      }
    },
    get pending() {
      return timers.size;
    },
  };
}

/** A model of one layer. */
export function model(id: string, more: Partial<RunnableModel> = {}): RunnableModel {
  return {
    id,
    path: `/models/${id}.gguf`,
    bytes: MIB,
    gguf: {
      arch: "llama",
      contextLength: 2048,
      quant: "F32",
      parameters: 1,
      chatTemplate: true,
      embedding: false,
      layers: 1,
      kvHeads: 2,
      headDim: 64,
    },
    defaults: { contextSize: null, threads: null, ttlMs: 600_000 },
    ...more,
  };
}

/** What a process of `fault-runner.js` does. */
export type Fault = "well" | "exits" | "hangs" | "garbage" | "fails";

/** Runners whose processes do what the test says, one after the other; past the end they do well. */
export function faultRunners(
  options: {
    readonly faults?: readonly Fault[];
    readonly settings?: RunnersContext["settings"];
    readonly machine?: Partial<Machine>;
    readonly writable?: boolean;
  } = {},
) {
  const clock = handClock();
  const children: ChildProcess[] = [];
  const used: string[] = [];
  const logs: string[] = [];
  const dir = temporaryFolder();
  const script = fileURLToPath(new URL("fault-runner.js", import.meta.url));
  const runners: Runners = new Runners(
    {
      dir,
      writable: options.writable ?? true,
      settings: options.settings ?? {},
      clock,
      engine: () => ({ version: "0", source: "peer", entry: ENGINE }),
      used: (id) => used.push(id),
      log: (_level, text) => logs.push(text),
    },
    {
      fork() {
        const fault = options.faults?.[children.length] ?? "well";
        const child = fork(script, [fault], {
          execArgv: [],
          stdio: ["ignore", "pipe", "pipe", "ipc"],
        });
        children.push(child);
        return child;
      },
      machine: { cores: () => 4, availableBytes: () => 1024 * MIB, ...options.machine },
    },
  );
  onTestFinished(() => runners.close());
  return { runners, clock, children, used, logs, dir };
}

/** Resolves when `check` holds; it is asked after each turn of the event loop, and the test's own limit ends it. */
export async function until(check: () => boolean): Promise<void> {
  while (!check()) await new Promise((resolve) => setTimeout(resolve, 5));
}

export function fileOf(dir: string, name: string, bytes: Uint8Array): string {
  const path = join(dir, name);
  writeFileSync(path, bytes);
  return path;
}
