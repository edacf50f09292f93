/** All functions and macros of the language. Adding one is additive; a signature never changes. */
import { BYTES } from "./bytes.ts";
import { COLLECTIONS } from "./collections.ts";
import type { FunctionInfo, FunctionSpec } from "./define.ts";
import { GENERAL } from "./general.ts";
import { MACROS, type MacroSpec } from "./macros.ts";
import { NUMBERS } from "./numbers.ts";
import { TEXT } from "./text.ts";
import { TIME_FUNCTIONS } from "./time.ts";

const FUNCTIONS: ReadonlyMap<string, FunctionSpec> = new Map(
  [...GENERAL, ...TEXT, ...NUMBERS, ...COLLECTIONS, ...TIME_FUNCTIONS, ...BYTES].map((spec) => [
    spec.name,
    spec,
  ]),
);
const MACRO_TABLE: ReadonlyMap<string, MacroSpec> = new Map(
  MACROS.map((spec) => [spec.name, spec]),
);

/** A function by name; macros are not among them. */
export function findFunction(name: string): FunctionSpec | undefined {
  return FUNCTIONS.get(name);
}

/** A macro by name. */
export function findMacro(name: string): MacroSpec | undefined {
  return MACRO_TABLE.get(name);
}

/** Every function and macro for a reference page or a completion list, in groups: `{ name, group, signature, summary }`. */
export function listFunctions(): readonly FunctionInfo[] {
  return [...MACRO_TABLE.values(), ...FUNCTIONS.values()].map(
    ({ name, group, signature, summary }) => ({ name, group, signature, summary }),
  );
}

/** How many arguments a function takes: `[least, most]`. */
export function arityOf(spec: FunctionSpec): readonly [least: number, most: number] {
  const least = spec.required ?? spec.params.length;
  return [least, spec.rest === true ? Number.POSITIVE_INFINITY : spec.params.length];
}
