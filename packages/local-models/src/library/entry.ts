/** A model as the manager keeps it, and as the wire shows it. */
import { relative, sep } from "node:path";
import type { Model } from "@millrace/contracts";
import type { FileStamp } from "../folders.ts";
import type { GgufFacts } from "../gguf/inspect.ts";

export const DEFAULT_CONTEXT = 4_096; // memory of a context grows with its size; a caller can ask for more
export const DEFAULT_TTL_MS = 600_000;

/** A model whose files were found whole. */
export interface Entry {
  readonly id: string;
  /** The folder that was scanned, absolute. */
  readonly folder: string;
  /** `managed`: in our own folder; `folder`: in one of the operator's, never changed. */
  readonly origin: "managed" | "folder";
  /** In the order of parts. */
  readonly files: readonly FileStamp[];
  readonly sha256: string | null;
  readonly verified: boolean;
  readonly source: Model["source"];
  readonly gguf: GgufFacts;
  readonly defaults: Model["defaults"];
  readonly lastUsedAt: string | null;
}

export function defaultsOf({ contextLength }: Pick<GgufFacts, "contextLength">): Model["defaults"] {
  const contextSize =
    contextLength > 0 ? Math.min(DEFAULT_CONTEXT, contextLength) : DEFAULT_CONTEXT;
  return { contextSize, threads: null, ttlMs: DEFAULT_TTL_MS };
}

/** Bytes of all files. */
export function bytesOf({ files }: Pick<Entry, "files">): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Path of a file below its folder, with `/`. */
export function nameIn(folder: string, path: string): string {
  return relative(folder, path).split(sep).join("/");
}

/** The order of lists: managed models first, then by id. */
export function byOriginAndId(
  one: Pick<Model, "id" | "origin">,
  other: Pick<Model, "id" | "origin">,
): number {
  if (one.origin !== other.origin) return one.origin === "managed" ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}

/** The model on the wire; `standing` is what its files do not hold. */
export function toModel(
  entry: Entry,
  { state, runtime, error }: Pick<Model, "state" | "runtime" | "error">,
): Model {
  const { arch, contextLength, quant, parameters, chatTemplate, embedding } = entry.gguf;
  return {
    id: entry.id,
    state,
    bytes: bytesOf(entry),
    sha256: entry.sha256,
    verified: entry.verified,
    files: entry.files.map(({ path }) => nameIn(entry.folder, path)),
    source: entry.source,
    origin: entry.origin,
    gguf: { arch, contextLength, quant, parameters, chatTemplate, embedding },
    defaults: entry.defaults,
    runtime,
    error,
    lastUsedAt: entry.lastUsedAt,
  };
}
