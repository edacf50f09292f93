/**
 * The models that are known, by id.
 *   B1  An id belongs to a path for as long as the file is there, whatever it holds.
 *   B2  The registry file holds complete models only.
 *   B3  A scan does not undo changes made while it ran: changes of the library are exclusive.
 */

import { join } from "node:path";
import type { Model } from "@millrace/contracts";
import { isUnchanged, type Skipped, sameStamp } from "../folders.ts";
import { defaultsOf, type Entry } from "./entry.ts";
import { freeId, idOfPath } from "./ids.ts";
import type { FoundModel, Known } from "./scan.ts";

/** Result of a scan of all folders. */
export interface ScanFindings {
  /** Managed ones first, each folder in the order of names. */
  readonly models: readonly FoundModel[];
  readonly skipped: readonly (Skipped & { readonly folder: string })[];
}

export interface Library {
  get(id: string): Entry | undefined;
  /** Managed ones first, then by id. */
  all(): readonly Entry[];
  /** Those whose files are whole. */
  whole(): readonly Entry[];
  /** The current entries, for one scan. */
  known(): Known;
  /** Whether a file belongs to a model. */
  owns(path: string): boolean;
  /** Why a model cannot be used; null: it can. */
  fault(id: string): Model["error"];
  setFault(id: string, message: string): void;
  add(entry: Entry): void;
  remove(id: string): void;
  touch(id: string, at: string): void;
  /** Takes over a scan; answers the ids whose files are gone. */
  adopt(findings: ScanFindings): Promise<readonly string[]>;
  /** Runs `work` with exclusive access to the library. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
}

/** A library that begins with `entries`; `managed` is the folder of our own files. */
export function createLibrary(managed: string, entries: readonly Entry[]): Library {
  const models = new Map(entries.map((entry) => [entry.id, entry]));
  const faults = new Map<string, NonNullable<Model["error"]>>();
  let turn: Promise<unknown> = Promise.resolve();

  const byFirstPath = (): Map<string, Entry> =>
    new Map([...models.values()].map((entry) => [entry.files[0]?.path ?? "", entry]));
  const remove = (id: string): void => {
    models.delete(id);
    faults.delete(id);
  };
  const all = (): readonly Entry[] => [...models.values()].sort(byOriginAndId);
  const exclusively = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work);
    turn = mine.catch(() => undefined);
    return mine;
  };
  const setFault = (id: string, message: string): void => {
    faults.set(id, { code: "invalid_model", message });
  };

  const adopt = async ({ models: found, skipped }: ScanFindings): Promise<readonly string[]> => {
    const owners = byFirstPath();
    const seen = new Set<string>();
    for (const model of found) {
      const path = model.files[0]?.path ?? "";
      const owner = owners.get(path);
      if (seen.has(path) || (owner === undefined && !(await isUnchanged(model.files)))) continue;
      seen.add(path);
      const entry = entryOf(model, owner, (id) => models.has(id));
      models.set(entry.id, entry);
      faults.delete(entry.id);
    }
    const reasons = new Map(
      skipped.map(({ folder, file, reason }) => [join(folder, file), reason]),
    );
    const gone: string[] = [];
    for (const { id, files } of owners.values()) {
      if (seen.has(files[0]?.path ?? "")) continue;
      const reason = files.map(({ path }) => reasons.get(path)).find((one) => one !== undefined);
      if (reason !== undefined) setFault(id, reason);
      else if (!(await isUnchanged(files))) {
        remove(id);
        gone.push(id);
      }
    }
    return gone;
  };

  const entryOf = (
    { folder, name, files, gguf }: FoundModel,
    owner: Entry | undefined,
    isTaken: (id: string) => boolean,
  ): Entry => {
    const stamps = files.map(({ path, bytes, mtimeMs, ino }) => ({ path, bytes, mtimeMs, ino }));
    const isSame = (other: Entry): boolean =>
      other.files.length === stamps.length &&
      stamps.every((stamp, i) => sameStamp(stamp, other.files[i]));
    if (owner !== undefined && isSame(owner)) return owner;
    return {
      id: owner?.id ?? freeId(idOfPath(name), isTaken),
      folder,
      origin: folder === managed ? "managed" : "folder",
      files: stamps,
      sha256: null,
      verified: false,
      source: null,
      gguf,
      defaults: defaultsOf(gguf),
      lastUsedAt: owner?.lastUsedAt ?? null,
    };
  };

  return {
    get: (id) => models.get(id),
    all,
    whole: () => all().filter(({ id }) => !faults.has(id)),
    known() {
      const owners = byFirstPath();
      return (path) => owners.get(path);
    },
    owns: (path) =>
      [...models.values()].some(({ files }) => files.some((one) => one.path === path)),
    fault: (id) => faults.get(id) ?? null,
    setFault,
    add: (entry) => void models.set(entry.id, entry),
    remove,
    touch(id, lastUsedAt) {
      const entry = models.get(id);
      if (entry !== undefined) models.set(id, { ...entry, lastUsedAt });
    },
    adopt: (findings) => exclusively(() => adopt(findings)),
    exclusively,
  };
}

function byOriginAndId(one: Entry, other: Entry): number {
  if (one.origin !== other.origin) return one.origin === "managed" ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}
