/** What an operator may say of models, and how it is read. */
import { isAbsolute } from "node:path";
import type { ModelsOption } from "./open-models.ts";

type Check = (value: unknown) => boolean;

const isFolder: Check = (value) => typeof value === "string" && isAbsolute(value);
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) > 0;

const MEMBERS: { readonly [K in keyof ModelsOption]-?: readonly [Check, string] } = {
  dir: [isFolder, "an absolute folder"],
  folders: [(value) => Array.isArray(value) && value.every(isFolder), "a list of absolute folders"],
  maxBytes: [isCount, "a number of bytes"],
  registryUrl: [
    (value) => typeof value === "string" && /^https?:/.test(value) && URL.canParse(value),
    "an http or https URL",
  ],
  maxLoaded: [isCount, "a whole number from 1"],
  loadTimeoutMs: [isCount, "a number of milliseconds"],
};

/** Reads the option of a server, or the key of a configuration. Null: no models are managed. Throws a text: what is wrong. */
export function readModels(value: unknown = {}): ModelsOption | null {
  if (value === false) return null;
  if (typeof value !== "object" || value === null) throw "must be an object, or false";
  for (const [name, member] of Object.entries(value)) {
    const [fits, what] =
      (Object.hasOwn(MEMBERS, name) && MEMBERS[name as keyof ModelsOption]) || [];
    if (fits === undefined) throw `has no member "${name}"`;
    if (!fits(member)) throw `has a "${name}" that is not ${what}`;
  }
  return value;
}

/** What variables say of models. */
export function modelsFrom({
  MILLRACE_MODELS_DIR: dir,
}: Readonly<Record<string, string | undefined>>): ModelsOption {
  return dir === undefined || dir === "" ? {} : { dir };
}
