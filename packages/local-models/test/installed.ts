/** A file server on loopback, and installs from it. */
import { tinyGguf } from "@millrace/test-support/gguf";
import { afterAll, beforeAll, expect } from "vitest";
import { type FileServer, openFileServer } from "./file-server.ts";
import { ENDS, type openManager, type Step, sha256 } from "./opened.ts";

export const MODEL = tinyGguf();
export const DIGEST = sha256(MODEL);
export const MIDDLE = 300_000;
export const OTHER = tinyGguf({ text: "another text" });

export let server: FileServer;
/** Opens `server` for the tests of a file. */
export function useFileServer(): void {
  beforeAll(async () => {
    server = await openFileServer();
  });
  afterAll(() => server.close());
}

let count = 0;
/** A URL that no other test uses. */
export const path = (): string => `/m${++count}/tiny.gguf`;
export const askedOf = (url: string) =>
  server.asked.filter((one) => server.origin + one.path === url);
export type Opened = ReturnType<typeof openManager>;
/** Installs the model of this URL as `m`, or as the arguments say, and waits for its end. */
export const installed = ({ manager, ended }: Opened, source: string, more: object = {}) =>
  ended(manager.install({ source, id: "m", sha256: DIGEST, ...more }));
export const stages = (steps: readonly Step[]) => [...new Set(steps.map(({ stage }) => stage))];

/** What must hold of every job's events. */
export function checkSteps(steps: readonly Step[]): void {
  for (const step of steps) {
    expect(Object.keys(step)).toEqual(["stage", "current", "total", "message", "jobId"]);
    expect(Number.isSafeInteger(step.current) && Number.isSafeInteger(step.total)).toBe(true);
    if (step.total > 0) expect(step.current).toBeLessThanOrEqual(step.total);
  }
  for (const [i, step] of steps.entries()) {
    const before = steps[i - 1];
    if (before?.stage !== step.stage || step.message.endsWith(": restarted")) continue;
    expect(step.current).toBeGreaterThanOrEqual(before.current);
  }
  expect(steps.filter(({ stage }) => ENDS.has(stage))).toHaveLength(1);
  expect(ENDS.has(steps.at(-1)?.stage ?? "")).toBe(true);
}
