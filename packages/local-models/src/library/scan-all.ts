/** A scan of all folders and its events. */
import type { EventSink } from "@millrace/contracts";
import type { Entry } from "./entry.ts";
import type { Library, ScanFindings } from "./library.ts";
import { scanFolder } from "./scan.ts";

const MAX_TOLD = 200; // skipped files in one event; a folder with more of them is not one of models

/** Result of a scan. */
export interface ScanResult {
  readonly count: number;
  readonly skipped: readonly { readonly file: string; readonly reason: string }[];
  readonly ms: number;
}

export interface ScanAllOptions {
  /** Ours first. */
  readonly folders: readonly string[];
  readonly library: Library;
  readonly log: (level: "info" | "warn", text: string) => void;
}

/** Scans all folders and updates the library; returns skipped files, and ids whose files are gone. Rejects with the reason of `signal`. */
export async function scanAll(
  { folders, library, log }: ScanAllOptions,
  signal: AbortSignal,
): Promise<Pick<ScanResult, "skipped"> & { readonly gone: readonly string[] }> {
  const models: ScanFindings["models"][number][] = [];
  const skipped: ScanFindings["skipped"][number][] = [];
  const known = library.known();
  for (const [i, folder] of folders.entries()) {
    try {
      const found = await scanFolder(folder, known, signal);
      models.push(...found.models);
      skipped.push(...found.skipped.map((one) => ({ ...one, folder })));
    } catch (error) {
      signal.throwIfAborted();
      const code = (error as NodeJS.ErrnoException).code ?? "unknown";
      log("warn", `folder ${i} of models cannot be read (${code})`);
    }
  }
  signal.throwIfAborted();
  const gone = await library.adopt({ models, skipped });
  for (const id of gone) log("info", `the files of the model ${id} are gone`);
  return {
    skipped: skipped.slice(0, MAX_TOLD).map(({ file, reason }) => ({ file, reason })),
    gone,
  };
}

/** Tells of a scan: each good model in the order of ids, then the end. */
export function tellScan(sink: EventSink, models: readonly Entry[], result: ScanResult): void {
  for (const id of models.map((entry) => entry.id).sort()) sink.emit("models:registered", id);
  sink.emit("models:scan_complete", result);
}
