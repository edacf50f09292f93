/**
 * Ids of models, such as `qwen3-4b:q4_k_m`, and the files they stand for.
 *   I1  Nothing touches a path for an id that `checkModelId` has not passed.
 *   I2  The file of an id lies in the folder of managed files: an id has no `/`, no `..` and no drive.
 */
import { modelIdSchema } from "@millrace/contracts/schemas";
import { ModelError } from "../errors.ts";

const MAX_NAME = 64; // the word before the colon, and
const MAX_VARIANT = 32; // the one after it; as the schema of ids has it
const MAX_ID = 96;

/** The id itself. Throws `invalid_args` for anything that is not an id; the value is not repeated. */
export function checkModelId(id: unknown): string {
  const checked = modelIdSchema.safeParse(id);
  if (checked.success) return checked.data;
  throw new ModelError("invalid_args", "the id is not one of a model, such as qwen3-4b:q4_k_m");
}

/** The id that a file gets by itself: `Qwen/4B Q4.gguf` is `qwen:4b-q4`. `path` is relative, with `/`. */
export function idOfPath(path: string): string {
  const parts = path.split("/");
  const file = (parts.at(-1) ?? "").replace(/\.gguf$/i, "");
  const folder = parts.at(-2);
  if (folder === undefined) return word(file, MAX_NAME);
  const name = word(folder, MAX_NAME);
  return `${name}:${word(file, Math.min(MAX_VARIANT, MAX_ID - name.length - 1))}`;
}

/** The first of `id`, `id-2`, `id-3` … that is not taken. */
export function freeId(id: string, isTaken: (id: string) => boolean): string {
  const colon = id.indexOf(":");
  const most = colon < 0 ? MAX_NAME : Math.min(colon + 1 + MAX_VARIANT, MAX_ID);
  let free = id;
  for (let n = 2; isTaken(free); n++) {
    const suffix = `-${n}`;
    const kept = Math.max(colon + 2, most - suffix.length); // at least one character after the colon
    free = id.slice(0, kept).replace(/[._-]+$/, "") + suffix;
  }
  return free;
}

/** Where the file of an id is, relative to the folder of managed files. */
export function pathOfId(id: string): string {
  return `${checkModelId(id).replace(":", "/")}.gguf`;
}

/** Pattern of one side of the colon. */
function word(text: string, most: number): string {
  const plain = text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/\.{2,}/g, ".");
  const trim = (rest: string): string => rest.replace(/^[._-]+|[._-]+$/g, "");
  return trim(trim(plain).slice(0, most)) || "model";
}
