/**
 * The models that are known, by id.
 *   B1  An id belongs to a path for as long as the file is there, whatever it holds.
 *   B2  The registry file holds complete models only.
 *   B3  A scan does not undo changes made while it ran: changes of the library are exclusive.
 */
import { join } from "node:path";
import type { Model } from "@millrace/contracts";
import { areUnchanged, isUnchanged } from "../folders.ts";
import { byOriginAndId, defaultsOf, type Entry } from "./entry.ts";
import { freeId, idOfPath } from "./ids.ts";
import type { FoundModel, Known, ScanOutcome } from "./scan.ts";

export type Library = ReturnType<typeof createLibrary>;

/** A library that begins with `entries`; `managed` is the folder of our own files. */
export function createLibrary(managed: string, entries: readonly Entry[]) {
  const models = new Map(entries.map((entry) => [entry.id, entry]));
  const faults = new Map<string, NonNullable<Model["error"]>>();
  let turn: Promise<unknown> = Promise.resolve();

  function entryOf(model: FoundModel, owner: Entry | undefined): Entry {
    const { folder, name, gguf } = model;
    const files = model.files.map(({ name: _, ...stamp }) => stamp);
    if (owner !== undefined && areUnchanged(files, owner.files)) return owner;
    return {
      id: owner?.id ?? freeId(idOfPath(name), (id) => models.has(id)),
      folder,
      origin: folder === managed ? "managed" : "folder",
      files,
      sha256: null,
      verified: false,
      source: null,
      gguf,
      defaults: defaultsOf(gguf),
      lastUsedAt: owner?.lastUsedAt ?? null,
    };
  }

  const library = {
    get: (id: string): Entry | undefined => models.get(id),
    /** Managed ones first, then by id. */
    all: (): readonly Entry[] => [...models.values()].sort(byOriginAndId),
    whole: (): readonly Entry[] => library.all().filter(({ id }) => !faults.has(id)),
    /** The current entries by their first files, for one scan. */
    known(): Known {
      return new Map([...models.values()].map((entry) => [entry.files[0]?.path ?? "", entry]));
    },
    owns: (path: string): boolean =>
      [...models.values()].some(({ files }) => files.some((one) => one.path === path)),
    /** Why a model cannot be used; null: it can. */
    fault: (id: string): Model["error"] => faults.get(id) ?? null,
    setFault(id: string, message: string): void {
      faults.set(id, { code: "invalid_model", message });
    },
    add: (entry: Entry): void => void models.set(entry.id, entry),
    remove(id: string): void {
      models.delete(id);
      faults.delete(id);
    },
    touch(id: string, lastUsedAt: string): void {
      const entry = models.get(id);
      if (entry !== undefined) models.set(id, { ...entry, lastUsedAt });
    },
    /** Runs `work` with exclusive access to the library. */
    exclusively<T>(work: () => Promise<T>): Promise<T> {
      const mine = turn.then(work);
      turn = mine.catch(() => undefined);
      return mine;
    },
    /** Takes over a scan, exclusively; answers the ids whose files are gone. */
    adopt: ({ models: found, skipped }: ScanOutcome): Promise<readonly string[]> =>
      library.exclusively(async () => {
        const owners = library.known();
        const seen = new Set<string>();
        for (const model of found) {
          const path = model.files[0]?.path ?? "";
          const owner = owners.get(path);
          if (seen.has(path) || (owner === undefined && !(await isUnchanged(model.files))))
            continue;
          seen.add(path);
          const entry = entryOf(model, owner);
          models.set(entry.id, entry);
          faults.delete(entry.id);
        }
        const reasons = new Map(skipped.map((one) => [join(one.folder, one.file), one.reason]));
        const gone: string[] = [];
        for (const [path, { id, files }] of owners) {
          if (seen.has(path)) continue;
          const reason = files.map((one) => reasons.get(one.path)).find((one) => one !== undefined);
          if (reason !== undefined) library.setFault(id, reason);
          else if (!(await isUnchanged(files))) {
            library.remove(id);
            gone.push(id);
          }
        }
        return gone;
      }),
  };
  return library;
}
