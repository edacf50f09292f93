/** All functions and macros of the language. Adding one is additive; a signature never changes. */
import { BYTES } from "./bytes.ts";
import { COLLECTIONS } from "./collections.ts";
import { CSV } from "./csv.ts";
import type { FunctionSpec, Named, Row } from "./define.ts";
import { GENERAL } from "./general.ts";
import { MACROS, type MacroSpec } from "./macros.ts";
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
const MACRO_TABLE: ReadonlyMap<string, MacroSpec> = new Map(named<MacroSpec>("macros", MACROS));

function named<Spec extends Named>(
  group: Named["group"],
  rows: readonly Row<Spec>[],
): [string, Spec][] {
  return rows.map((row) => {
    const name = row.signature.slice(0, row.signature.indexOf("("));
    return [name, { ...row, name, group } as Spec];
  });
}

/** A function by name; macros are not among them. */
export function findFunction(name: string): FunctionSpec | undefined {
  return FUNCTIONS.get(name);
}

/** A macro by name. */
export function findMacro(name: string): MacroSpec | undefined {
  return MACRO_TABLE.get(name);
}

/** Every function and macro, in groups. */
export function allFunctions(): readonly Named[] {
  return [...MACRO_TABLE.values(), ...FUNCTIONS.values()];
}

/** How many arguments a function takes: `[least, most]`. */
export function arityOf(spec: FunctionSpec): readonly [least: number, most: number] {
  const least = spec.required ?? spec.params.length;
  return [least, spec.rest === true ? Number.POSITIVE_INFINITY : spec.params.length];
}
