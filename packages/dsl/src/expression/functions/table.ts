/** All functions and macros of the language. Adding one is additive; a signature never changes. */
import { BYTES } from "./bytes.ts";
import { COLLECTIONS } from "./collections.ts";
import { CSV } from "./csv.ts";
import { type FunctionSpec, type Named, named } from "./define.ts";
import { GENERAL } from "./general.ts";
import { allMacros } from "./macros.ts";
import { NUMBERS } from "./numbers.ts";
import { PATTERNS } from "./patterns.ts";
import { SEQUENCES } from "./sequences.ts";
import { TEXT } from "./text.ts";
import { TIME_FUNCTIONS } from "./time.ts";

const FUNCTIONS: ReadonlyMap<string, FunctionSpec> = new Map([
  ...named<FunctionSpec>("general", [...GENERAL, ...CSV]),
  ...named<FunctionSpec>("text", [...TEXT, ...PATTERNS]),
  ...named<FunctionSpec>("numbers", NUMBERS),
  ...named<FunctionSpec>("collections", [...SEQUENCES, ...COLLECTIONS]),
  ...named<FunctionSpec>("time", TIME_FUNCTIONS),
  ...named<FunctionSpec>("bytes", BYTES),
]);

/** A function by name; macros are not among them. */
export function findFunction(name: string): FunctionSpec | undefined {
  return FUNCTIONS.get(name);
}

/** Every function and macro, in groups. */
export function allFunctions(): readonly Named[] {
  return [...allMacros(), ...FUNCTIONS.values()];
}

/** How many arguments a function takes: `[least, most]`. */
export function arityOf(spec: FunctionSpec): readonly [least: number, most: number] {
  const least = spec.required ?? spec.params.length;
  return [least, spec.rest === true ? Number.POSITIVE_INFINITY : spec.params.length];
}
