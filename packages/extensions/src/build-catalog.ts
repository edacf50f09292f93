/** The catalog of an extension from its code, which is imported in a process of its own: code that hangs costs that process. */

import { spawn } from "node:child_process";
import { realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { NodeError } from "@millrace/contracts";
import { whenAborted } from "@millrace/contracts/kit";
import type { ExtensionCatalog } from "./catalog.ts";
import { lineTo } from "./child-line.ts";
import { endOf } from "./child-process.ts";
import { loadFailure } from "./load-failure.ts";
import { readOutput } from "./output-lines.ts";
import { type ExtensionProblem, ProblemFound } from "./problem.ts";
import { childProgram } from "./program.ts";
import { reapWithHost } from "./reaper.ts";

/** Options of building a catalog. */
export interface BuildCatalogOptions {
  /** Folder of the package. */
  readonly folder: string;
  /** Its entry, below the folder. */
  readonly entry: string;
  readonly signal: AbortSignal;
  /** Takes a line that the code writes to its standard output or error. */
  readonly said: (stream: "stdout" | "stderr", text: string) => void;
}

/**
 * Imports the entry as its author runs it, without the permission model, and answers its catalog. The process ends then,
 * whatever the code has left running. Throws `ProblemFound` for code that does not load, with its place, and for what
 * `catalogOf` refuses; the reason of the signal when it aborts.
 */
export async function buildCatalog(options: BuildCatalogOptions): Promise<ExtensionCatalog> {
  const { signal, said } = options;
  signal.throwIfAborted();
  const folder = await realpath(options.folder);
  const entry = join(folder, options.entry);
  const child = spawn(process.execPath, ["--no-warnings", childProgram()], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    windowsHide: true,
  });
  reapWithHost(child);
  const stop = (): void => void child.kill("SIGKILL");
  const leave = whenAborted(signal, stop);
  const heard = readOutput(child, said);
  const died = new Promise<never>((_, reject) => {
    const end = (how: string): void => {
      const text = `its process ended while it loaded, with ${how}`;
      reject(new ProblemFound("extension_load_failed", text));
    };
    child.once("exit", (code, signal) => end(endOf(code, signal)));
    child.once("error", ({ message }) => end(message));
  });
  const { peer, ready } = lineTo(child, new Map());
  try {
    await Promise.race([ready, died]);
    return (await Promise.race([peer.request("catalog", { entry }), died])) as ExtensionCatalog;
  } catch (error) {
    signal.throwIfAborted();
    throw await buildProblem(error, folder, entry);
  } finally {
    leave();
    stop();
    await heard;
  }
}

/** A problem crosses the line as a `NodeError` with its code. */
async function buildProblem(error: unknown, folder: string, entry: string): Promise<ProblemFound> {
  const found = error instanceof ProblemFound ? error.problem : error;
  const isKnown =
    found !== error || (NodeError.isInstance(error) && /^extension_/.test(error.code));
  if (isKnown) {
    const { code, message } = found as ExtensionProblem;
    return new ProblemFound(code, `${relative(folder, entry)}: ${message}`);
  }
  return new ProblemFound(
    "extension_load_failed",
    await loadFailure(error, { folder, entry }, true),
  );
}
