/** All functions and macros of the language. Adding one is additive; a signature never changes. */
import { BYTES } from "./bytes.ts";
import { COLLECTIONS } from "./collections.ts";
import { CSV } from "./csv.ts";
import { type FunctionSpec, functionsOf, type Named } from "./define.ts";
import { GENERAL } from "./general.ts";
import { allMacros } from "./macros.ts";
import { NUMBERS } from "./numbers.ts";
import { PATTERNS } from "./patterns.ts";
import { SEQUENCES } from "./sequences.ts";
import { TEXT } from "./text.ts";
import { TIME_FUNCTIONS } from "./time.ts";

const FUNCTIONS: ReadonlyMap<string, FunctionSpec> = new Map([
  ...functionsOf("general", [...GENERAL, ...CSV]),
  ...functionsOf("text", [...TEXT, ...PATTERNS]),
  ...functionsOf("numbers", NUMBERS),
  ...functionsOf("collections", [...SEQUENCES, ...COLLECTIONS]),
  ...functionsOf("time", TIME_FUNCTIONS),
  ...functionsOf("bytes", BYTES),
]);

/** A function by name; macros are not among them. */
export function findFunction(name: string): FunctionSpec | undefined {
  return FUNCTIONS.get(name);
}

/** Every function and macro, in groups. */
export function allFunctions(): readonly Named[] {
  return [...allMacros(), ...FUNCTIONS.values()];
}
