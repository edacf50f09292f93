/**
 * Finds the models of folders. Files that have not changed since the last scan are not read again.
 *   S1  Only headers are read, at most eight files at a time, and the event loop gets its turn between steps.
 *   S2  A model is found whole or skipped with a reason; parts of a split one are one model.
 */
import { areUnchanged, type FoundFile, listFolder, type Skipped } from "../folders.ts";
import { type GgufFacts, inspectGguf } from "../gguf/inspect.ts";
import type { SkipReason } from "../gguf/types.ts";
import { mapLimited } from "../map-limited.ts";
import type { Entry } from "./entry.ts";

const FILES_AT_ONCE = 8;

/** `name-00001-of-00003.gguf`. */
const SPLIT = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i;

/** Files that belong together, by name. */
interface Group {
  /** Relative to the folder, with `/`; of a split model without the number of the part. */
  readonly name: string;
  /** In the order of parts. */
  readonly files: readonly FoundFile[];
  /** Parts that there should be; undefined: a file by itself. */
  readonly count?: number;
}

/** A model as a folder holds it. */
export interface FoundModel extends Group {
  /** The folder that was scanned, absolute. */
  readonly folder: string;
  readonly gguf: GgufFacts;
}

/** Entries by the path of their first file. */
export type Known = ReadonlyMap<string, Entry>;

/** Models and skipped files, each folder in the order of names. */
export interface ScanOutcome {
  readonly models: readonly FoundModel[];
  readonly skipped: readonly (Skipped & { readonly folder: string })[];
}

/** Scans folders. Rejects with the reason of `signal`; a folder that cannot be read is reported to `unreadable` with its place in the list. */
export async function scanFolders(
  folders: readonly string[],
  known: Known,
  options: {
    readonly signal: AbortSignal;
    readonly unreadable: (index: number, code: string) => void;
  },
): Promise<ScanOutcome> {
  const { signal, unreadable } = options;
  const models: FoundModel[] = [];
  const skipped: ScanOutcome["skipped"][number][] = [];
  for (const [index, folder] of folders.entries()) {
    try {
      const listing = await listFolder(folder);
      const left = [...listing.skipped];
      const looked = await mapLimited(groupsOf(listing.files), FILES_AT_ONCE, async (group) => {
        signal.throwIfAborted();
        return { group, ...(await look(group, known)) };
      });
      for (const { group, gguf, file = group.name, reason = "unreadable" } of looked) {
        if (gguf !== undefined) models.push({ folder, ...group, gguf });
        else left.push({ file, reason });
      }
      left.sort((a, b) => (a.file < b.file ? -1 : 1));
      skipped.push(...left.map((one) => ({ ...one, folder })));
    } catch (error) {
      signal.throwIfAborted();
      unreadable(index, (error as NodeJS.ErrnoException).code ?? "unknown");
    }
  }
  signal.throwIfAborted();
  return { models, skipped };
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
  const before = known.get(first.path);
  if (before !== undefined && areUnchanged(files, before.files)) return { gguf: before.gguf };
  let whole: GgufFacts | undefined;
  for (const [i, file] of files.entries()) {
    const part = count === undefined ? undefined : { no: i + 1, count };
    const seen = await inspectGguf(file.path, part);
    if (seen.reason !== undefined) return { file: file.name, reason: seen.reason };
    // Only the first part describes the model; the others add tensors.
    const parameters = (whole?.parameters ?? 0) + seen.facts.parameters;
    whole = { ...(whole ?? seen.facts), parameters };
  }
  return { gguf: whole as GgufFacts };
}
