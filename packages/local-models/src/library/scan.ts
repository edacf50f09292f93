/**
 * Finds the models of folders. Files that have not changed since the last scan are not read again.
 *   S1  Only headers are read, at most eight files at a time, and the event loop gets its turn between steps.
 *   S2  A model is found whole or skipped with a reason; parts of a split one are one model.
 */
import type { AbortSignalLike } from "@millrace/contracts";
import { type FileStamp, type FoundFile, listFolder, type Skipped, sameStamp } from "../folders.ts";
import { inspectGguf } from "../gguf/inspect.ts";
import type { SkipReason } from "../gguf/types.ts";
import { mapLimited } from "../map-limited.ts";
import type { GgufFacts } from "../runners.ts";

const FILES_AT_ONCE = 8;

/** `name-00001-of-00003.gguf`. */
const SPLIT = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i;

/** A model as a folder holds it. */
export interface FoundModel {
  /** The folder that was scanned, absolute. */
  readonly folder: string;
  /** Relative to it, with `/`; of a split model without the number of the part. */
  readonly name: string;
  /** In the order of parts. */
  readonly files: readonly FoundFile[];
  readonly gguf: GgufFacts;
}

/** The known entry whose first file has this path. */
export type Known = (
  path: string,
) => { readonly files: readonly FileStamp[]; readonly gguf: GgufFacts } | undefined;

export interface ScanOutcome {
  readonly models: readonly FoundModel[];
  readonly skipped: readonly Skipped[];
}

/** Files that belong together, by name. */
interface Group {
  readonly name: string;
  readonly files: readonly FoundFile[];
  /** Parts that there should be; undefined: a file by itself. */
  readonly count?: number;
}

/** Scans a folder. Throws the reason of `signal`; a folder that is not there rejects with the fault of the file system. */
export async function scanFolder(
  folder: string,
  known: Known,
  signal?: AbortSignalLike,
): Promise<ScanOutcome> {
  const listing = await listFolder(folder);
  const looked = await mapLimited(groupsOf(listing.files), FILES_AT_ONCE, async (group) => {
    if (signal?.aborted === true) throw signal.reason;
    return { group, ...(await look(group, known)) };
  });
  const models: FoundModel[] = [];
  const skipped = [...listing.skipped];
  for (const { group, gguf, file, reason } of looked) {
    if (gguf !== undefined) models.push({ folder, name: group.name, files: group.files, gguf });
    else skipped.push({ file: file ?? group.name, reason: reason ?? "unreadable" });
  }
  return { models, skipped: skipped.sort((a, b) => (a.file < b.file ? -1 : 1)) };
}

function groupsOf(files: readonly FoundFile[]): readonly Group[] {
  const splits = new Map<string, { name: string; count: number; files: FoundFile[] }>();
  const groups: Group[] = [];
  for (const file of files) {
    const split = SPLIT.exec(file.name);
    if (split === null) {
      groups.push({ name: file.name, files: [file] });
      continue;
    }
    const [, stem = "", , count = ""] = split;
    const key = `${stem}/${count}`;
    const group = splits.get(key) ?? { name: `${stem}.gguf`, count: Number(count), files: [] };
    if (group.files.push(file) === 1) {
      splits.set(key, group);
      groups.push(group);
    }
  }
  return groups;
}

type Look = {
  readonly gguf?: GgufFacts;
  readonly file?: string;
  readonly reason?: SkipReason;
};

async function look({ files, count }: Group, known: Known): Promise<Look> {
  const [first] = files as readonly [FoundFile, ...FoundFile[]];
  if (count !== undefined && files.length !== count) {
    return { file: first.name, reason: "missing_part" };
  }
  const before = known(first.path);
  if (
    before?.files.length === files.length &&
    files.every((file, i) => sameStamp(file, before.files[i]))
  ) {
    return { gguf: before.gguf };
  }
  let whole: GgufFacts | undefined;
  for (const [i, file] of files.entries()) {
    const seen = await inspectGguf(
      file.path,
      count === undefined ? undefined : { no: i + 1, count },
    );
    if (seen.reason !== undefined) return { file: file.name, reason: seen.reason };
    // Only the first part describes the model; the others add tensors.
    const parameters = (whole?.parameters ?? 0) + seen.facts.parameters;
    whole = { ...(whole ?? seen.facts), parameters };
  }
  return { gguf: whole as GgufFacts };
}
