/**
 * `--watch`: the flow again at every save of its file, or of a file that an input is read from.
 *   W1  One run at a time: the one that goes on is cancelled before the next begins.
 *   W2  A flow that does not run is reported, and its files are watched like those of one that has run.
 */

import { once } from "node:events";
import { type FSWatcher, watch as watchFolder } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { Summary } from "@millrace/contracts";
import { toCliError } from "../api/errors.ts";
import { type CommandIo, flagList, flagText, type Input } from "../argv/spec.ts";
import { CliError, reason, usage } from "../errors.ts";
import { createNdjson } from "../output/ndjson.ts";
import { clean } from "../output/text.ts";
import { isSlug } from "./find-flow.ts";

/** Editors write a file in several steps. */
const DEBOUNCE_MS = 150;

/** Runs until a signal ends it; the exit code is that of the signal. */
export async function watch(
  input: Input,
  io: CommandIo,
  runOnce: (io: CommandIo) => Promise<Summary>,
): Promise<number> {
  const changes = watchFiles(await filesOf(input, io));
  try {
    for (;;) {
      const changed = changes.next();
      const stop = new AbortController();
      const signal = AbortSignal.any([io.signal, stop.signal]);
      // Every run has a log of its own, which ends with its summary.
      const json = io.json === undefined ? undefined : createNdjson(io.out);
      const work = attempt(runOnce, { ...io, json, signal }).finally(() => json?.drained());
      await Promise.race([work, changed, ended(io)]);
      stop.abort("change");
      const summary = await work;
      if (io.out.closed) return 1;
      if (io.signal.aborted && summary?.status === "cancelled") return summary.exitCode;
      if (!io.signal.aborted) await waiting(io, changed);
      if (io.signal.aborted) {
        throw new CliError("cancelled", `ended by ${String(io.signal.reason)}`, { reported: true });
      }
      if (io.verbosity !== "quiet" && io.json === undefined) await io.err.write("\n");
    }
  } finally {
    changes.close();
  }
}

async function waiting(io: CommandIo, changed: Promise<void>): Promise<void> {
  if (io.json === undefined) await io.err.write("waiting for a change; ^C ends\n");
  await Promise.race([changed, ended(io)]);
}

/** One run; an error before its start is reported and does not end the watch. */
async function attempt(
  runOnce: (io: CommandIo) => Promise<Summary>,
  io: CommandIo,
): Promise<Summary | undefined> {
  try {
    return await runOnce(io);
  } catch (error) {
    const end = toCliError(error);
    if (!(end instanceof CliError) || end.code === "internal") throw error;
    if (end.code === "cancelled") return undefined;
    if (io.json !== undefined) {
      const { soleSummary } = await import("../output/ndjson.ts");
      await io.json.events([soleSummary(end, io.now(), { after: io.json.last })]);
    }
    if (!end.reported) await io.err.write(`error: ${clean(end.message)}\n`);
    return undefined;
  }
}

async function ended({ signal }: CommandIo): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

/** The file of the flow, and those that inputs are read from. */
async function filesOf(input: Input, io: CommandIo): Promise<readonly string[]> {
  const name = input.args[0] as string;
  if (name === "-" || (await isSlug(name, io))) {
    throw usage("--watch looks at the file of the flow, and this flow has none");
  }
  const fromInputs = flagList(input, "input")
    .map((word) => word.slice(word.indexOf("=") + 1))
    .filter((text) => /^@(?!@|env:)/.test(text))
    .map((text) => text.slice(1));
  const all = flagText(input, "input-json");
  const names = [name, ...fromInputs, ...(all === undefined ? [] : [all])];
  if (names.includes("-")) throw usage("--watch runs again, and stdin can be read once");
  return names.map((each) => resolve(io.cwd, each));
}

interface Changes {
  /** Resolves at the next change, once it has settled. */
  next(): Promise<void>;
  close(): void;
}

/** Folders are watched, because many editors put a new file in the place of the old one. */
function watchFiles(files: readonly string[]): Changes {
  const wanted = new Map<string, Set<string>>();
  for (const file of files) {
    const names = wanted.get(dirname(file)) ?? new Set();
    wanted.set(dirname(file), names.add(basename(file)));
  }
  let tell = (): void => {};
  let timer: NodeJS.Timeout | undefined;
  const watchers: FSWatcher[] = [];
  const close = (): void => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
  for (const [folder, names] of wanted) {
    try {
      const watcher = watchFolder(folder, (_, name) => {
        if (name === null || !names.has(name)) return;
        clearTimeout(timer);
        timer = setTimeout(() => tell(), DEBOUNCE_MS);
      });
      watchers.push(watcher.on("error", () => {})); // of a folder that is gone nothing more is seen
    } catch (error) {
      close();
      throw usage(`cannot watch ${folder}: ${reason(error)}`);
    }
  }
  return {
    next: () =>
      new Promise((resolve) => {
        tell = resolve;
      }),
    close,
  };
}
