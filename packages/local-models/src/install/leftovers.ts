/** Parts that an earlier install, perhaps of an earlier process, has left: the next install of the same goes on with them. */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Model } from "@millrace/contracts";
import { defaultsOf } from "../library/entry.ts";
import { type PartState, readPartState } from "./part-file.ts";

const KEPT_MS = 7 * 86_400_000;

/** A part, with the name of its files. */
export interface Leftover extends PartState {
  readonly key: string;
}

/** The parts of a folder. Parts that are older than a week or cannot be continued are removed if `mayClean` returns true at that moment. */
export async function readLeftovers(
  folder: string,
  { now, mayClean }: { readonly now: number; readonly mayClean: () => boolean },
): Promise<readonly Leftover[]> {
  const found: Leftover[] = [];
  const names = await readdir(folder).catch(() => []);
  const keys = new Set(names.map((name) => name.replace(/\.(?:part|json|json\.tmp)$/, "")));
  for (const key of [...keys].sort()) {
    const state = await readPartState(join(folder, `${key}.json`));
    const part = await stat(join(folder, `${key}.part`)).catch(() => null);
    const isOld = part !== null && now - part.mtimeMs > KEPT_MS;
    if (state !== null && part !== null && !isOld) found.push({ ...state, key });
    else if (mayClean()) await removePart(folder, key).catch(() => undefined); // the next look tries again
  }
  return found;
}

/** Removes the files of a part. */
export async function removePart(folder: string, key: string): Promise<void> {
  for (const name of [`${key}.part`, `${key}.json`, `${key}.json.tmp`]) {
    await rm(join(folder, name), { force: true });
  }
}

/** A model whose file is incomplete. */
export function unfinishedModel(part: {
  readonly id: string;
  readonly bytes: number;
  readonly sha256: string | null;
  readonly source: Model["source"];
}): Model {
  return {
    ...part,
    state: "installing",
    verified: false,
    files: [],
    origin: "managed",
    gguf: null,
    defaults: defaultsOf({ contextLength: 0 }),
    runtime: null,
    error: null,
    lastUsedAt: null,
  };
}
