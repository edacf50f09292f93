/** Servers of the protocol for tests: real ones, and programs that misbehave. */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { AiToolContext } from "@millrace/contracts";
import type { McpServerSettings } from "@millrace/providers";
import { createMcpSource, type McpSource, type McpSourceOptions } from "@millrace/providers/mcp";
import { isAlive } from "@millrace/test-support/processes";
import { loopbackFetch } from "../support/providers.ts";

const require = createRequire(import.meta.url);

const EVERYTHING = require.resolve("@modelcontextprotocol/server-everything/package.json");
const FILESYSTEM = require.resolve("@modelcontextprotocol/server-filesystem/package.json");

function entryOf(manifest: string): string {
  return join(dirname(manifest), "dist", "index.js");
}

/** The reference server with a tool of every sort; by `mark` its process is known among those of other tests. */
export function everything(tools: readonly string[], mark = "none"): McpServerSettings {
  return { command: process.execPath, args: [entryOf(EVERYTHING), "stdio", mark], tools };
}

export function filesystem(folder: string, tools: readonly string[]): McpServerSettings {
  return { command: process.execPath, args: [entryOf(FILESYSTEM), folder], tools };
}

/** A program of our own, as source. */
export function program(source: string, more: Partial<McpServerSettings> = {}): McpServerSettings {
  return { command: process.execPath, args: ["-e", source], tools: ["t"], ...more };
}

export function sourceOf(
  servers: { readonly [name: string]: McpServerSettings },
  more: Partial<McpSourceOptions> = {},
): McpSource {
  return createMcpSource({
    servers,
    credentials: { secret: async () => undefined },
    references: { resolve: async () => ({}) },
    fetch: loopbackFetch(),
    ...more,
  });
}

/** What one use of a source gets, and what it said. */
export interface TestContext extends AiToolContext {
  readonly warnings: string[];
  readonly steps: number[];
}

export function contextOf(runId = "r1", more: Partial<AiToolContext> = {}): TestContext {
  const warnings: string[] = [];
  const steps: number[] = [];
  return {
    runId,
    fetch: loopbackFetch(),
    signal: new AbortController().signal,
    timeoutMs: 30_000,
    progress: (done) => void steps.push(done),
    warn: (code) => void warnings.push(code),
    warnings,
    steps,
    ...more,
  };
}

/** Processes that carry this word in their arguments or their variables; on Linux, from /proc. */
export function processesWith(word: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && isAlive(pid) && says(pid, word));
}

function says(pid: number, word: string): boolean {
  try {
    const args = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    return args.includes(word);
  } catch {
    return false;
  }
}
