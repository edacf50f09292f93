/**
 * The settings document. What was set is kept by path, as `run.timeoutMs`; everything else is the default of this version.
 *   D1  What is read has every member and fits the schema, whatever an earlier version has kept.
 *   D2  A patch is written whole or not at all.
 */
import type { Json, JsonObject, JsonSchema, Problem, Settings } from "@millrace/contracts";
import { settingsSchema } from "@millrace/contracts/schemas";
import type { SettingsTable } from "@millrace/store";
import { escapeSegment, MAX_ERRORS } from "../args/index.ts";
import { checkConditions, inTurn } from "../commands/index.ts";
import { ProblemError } from "../errors.ts";
import { isObject, mergePatch } from "./merge-patch.ts";

/** Paths of all single settings, each as the list of its names. */
const PATHS: readonly (readonly string[])[] = leavesOf(settingsSchema.parse({}) as unknown as Json);

/** JSON Schema of what may be set. */
export const SETTINGS_SCHEMA: JsonSchema = settingsSchema.toJSONSchema({
  io: "input",
}) as JsonSchema;

/** The settings in force: what was set, else the defaults. */
export function readSettings(table: SettingsTable): Settings {
  return settingsSchema.parse(keptIn(table));
}

/**
 * Applies a merge patch; null goes back to the default. Throws `precondition_required` and `etag_mismatch` as every change
 * does, and `value_invalid` with the places that do not fit.
 */
export function updateSettings(
  table: SettingsTable,
  { patch, ifMatch }: { readonly patch: JsonObject; readonly ifMatch?: string },
): Promise<Settings> {
  return inTurn(table, async () => {
    checkConditions(readSettings(table), { ifMatch });
    const next = mergePatch(keptIn(table), patch);
    const read = settingsSchema.safeParse(next);
    if (!read.success) {
      const problems = read.error.issues.flatMap(problemsOf);
      throw new ProblemError("value_invalid", { errors: problems.slice(0, MAX_ERRORS) });
    }
    await table.set(Object.fromEntries(PATHS.map((path) => [path.join("."), valueAt(next, path)])));
    return read.data;
  });
}

/** What was set and still fits: a value that this version does not take is as if it had never been set. */
function keptIn(table: SettingsTable): Json {
  const kept = table.all();
  let document: Json = {};
  for (const path of PATHS) {
    const value = kept[path.join(".")];
    if (value === undefined) continue;
    const nested = path.reduceRight<Json>((inner, name) => ({ [name]: inner }), value);
    const next = mergePatch(document, nested);
    if (settingsSchema.safeParse(next).success) document = next;
  }
  return document;
}

function leavesOf(value: Json, path: readonly string[] = []): readonly (readonly string[])[] {
  const members = isObject(value) ? Object.entries(value) : [];
  if (members.length === 0) return [path];
  return members.flatMap(([name, member]) => leavesOf(member as Json, [...path, name]));
}

function valueAt(value: Json | undefined, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined),
    value,
  );
}

interface Issue {
  readonly code?: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
}

function problemsOf({ code = "invalid", path, message, keys }: Issue): Problem[] {
  const pointerTo = (names: readonly PropertyKey[]): string =>
    names.map((name) => `/${escapeSegment(String(name))}`).join("");
  if (keys === undefined) return [{ pointer: pointerTo(path), code, message }];
  return keys.map((key) => ({ pointer: pointerTo([...path, key]), code, message: "is not known" }));
}
