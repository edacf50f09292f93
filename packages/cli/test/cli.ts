/** The built command in a process of its own, with an empty home and no terminal. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ExecutionEvent, parseEventStrict, type Summary } from "@millrace/contracts";
import { temporaryFolder } from "@millrace/test-support/folder";
import { onTestFinished } from "vitest";

export const BIN: string = fileURLToPath(new URL("../bin/millrace.js", import.meta.url));
export const ROOT: string = fileURLToPath(new URL("../../../", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  output(): string;
  told(): string;
  /** Resolves when stdout and stderr together hold the text. */
  until(text: string): Promise<void>;
}

interface Options {
  readonly cwd?: string;
  readonly stdin?: string;
  readonly env?: Record<string, string>;
}

/** A scratch folder with these files, gone when the test ends. */
export function scratch(files: Record<string, string> = {}): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

export function start(words: readonly string[], options: Options = {}): Running {
  const home = scratch();
  const child = spawn(process.execPath, [BIN, ...words], {
    cwd: options.cwd ?? home,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      XDG_CONFIG_HOME: home,
      XDG_DATA_HOME: home,
      NO_COLOR: "1",
      ...options.env,
    },
    stdio: "pipe",
  });
  let stdout = "";
  let stderr = "";
  const watchers = new Set<() => void>();
  const tell = (): void => {
    for (const watcher of watchers) watcher();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    tell();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    tell();
  });
  child.stdin.on("error", () => {});
  child.stdin.end(options.stdin ?? "");
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return {
    child,
    ended,
    output: () => stdout,
    told: () => stderr,
    until: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!(stdout + stderr).includes(text)) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        void ended.then(() => reject(new Error(`ended without "${text}": ${stdout}${stderr}`)));
        look();
      }),
  };
}

export function millrace(words: readonly string[], options: Options = {}): Promise<Ended> {
  return start(words, options).ended;
}

/** Where a server listens that was started with `--json`. */
export async function urlOf(server: Running): Promise<string> {
  await server.until('"listening"');
  return (JSON.parse(server.output().split("\n")[0] ?? "") as { url: string }).url;
}

/** A body sent to a server as JSON. */
export function postJson(url: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
}

/** Every line of NDJSON output, as it is. */
export function jsonLines<T>(text: string): T[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}

/** Every event of NDJSON output. */
export function events(stdout: string): ExecutionEvent[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => parseEventStrict(line) as ExecutionEvent);
}

/** The last line of stdout, which must be a summary. */
export function lastSummary(stdout: string): Summary {
  const line = stdout.trimEnd().split("\n").at(-1) ?? "";
  const event = parseEventStrict(line);
  if (event.kind !== "summary") throw new Error(`the last line is no summary: ${line}`);
  return event as Summary;
}

/** Names of the examples' folders, in order, but for those that need an extension: tests of the extension run them. */
export const FOLDERS: readonly string[] = readdirSync(join(ROOT, "examples"))
  .filter((name) => /^\d\d-/.test(name))
  .filter(
    (name) =>
      !/millrace\/extension-/.test(readFileSync(join(ROOT, "examples", name, "README.md"), "utf8")),
  )
  .sort();

export function example(name: string): string {
  return join(ROOT, "examples", name);
}
