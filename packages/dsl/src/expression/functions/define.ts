/** How a function of the language is described: one record serves evaluation and static types. */
import type { Json } from "@millrace/contracts";
import type { Span } from "../../syntax/ast.ts";
import {
  ANY,
  BOOL,
  type FlowType,
  INT,
  LIST,
  NUMBER,
  OBJECT,
  STRING,
  unionOfAll,
} from "../../types/flow-type.ts";
import type { Evaluation } from "../budget.ts";

/** Where a call stands, for its errors. */
export interface CallSite extends Span {
  readonly name: string;
}

/** A function or macro by name. */
export interface Named {
  readonly name: string;
  readonly group: "general" | "macros" | "text" | "numbers" | "collections" | "time" | "bytes";
  /** `substring(string, start, end?) string`. */
  readonly signature: string;
}

/** A function or macro as a person reads it. */
export interface FunctionInfo extends Named {
  readonly summary: string;
  /** Stretches of the parameters in `signature`, those of its first form. */
  readonly parameters: readonly (readonly [start: number, end: number])[];
}

/** A function: its parameters, its result type, and its code. */
export interface FunctionSpec extends Named {
  /** Types of the arguments; they are checked before `call`. */
  readonly params: readonly FlowType[];
  /** How many arguments it takes. */
  readonly arity: readonly [least: number, most: number];
  /** The last parameter repeats, and `call` gets all arguments as one list. */
  readonly rest: boolean;
  /** It puts data into data one level deeper. */
  readonly nests?: true;
  /** It is not a constant, even of constants. */
  readonly readsClock?: true;
  /** Type of the result, from the types of the arguments. */
  readonly returns: FlowType | ((args: readonly FlowType[]) => FlowType);
  /** Why it refuses a literal argument whatever the others are; undefined: it may take it. */
  check?(literal: Json, index: number): string | undefined;
  call(ev: Evaluation, site: CallSite, ...args: (Json | undefined)[]): Json;
}

/** A row of a table: its name is that of its signature, its group that of its table. */
export type Row<Spec extends Named> = Omit<Spec, "name" | "group">;
/** A row of a table of functions. Absent `params` and `returns` are the types that the signature names. */
export type FunctionRow = Omit<Row<FunctionSpec>, "arity" | "rest" | "params" | "returns"> &
  Partial<Pick<FunctionSpec, "params" | "returns">>;

/** A function whose arguments have the TypeScript types `A` once `params` were checked. */
export function define<A extends readonly unknown[]>(
  spec: Omit<FunctionRow, "call"> & {
    call(ev: Evaluation, site: CallSite, ...args: A): Json;
  },
): FunctionRow {
  return spec as unknown as FunctionRow;
}

/** The rows of a table with their names. */
export function named<Spec extends Named>(
  group: Named["group"],
  rows: readonly Row<Spec>[],
): [string, Spec][] {
  return rows.map((row) => {
    const name = row.signature.slice(0, row.signature.indexOf("("));
    return [name, { ...row, name, group } as Spec];
  });
}

/** The types that a signature names. */
const TYPES: { readonly [word: string]: FlowType } = {
  ...{ T: ANY, bool: BOOL, int: INT, list: LIST, number: NUMBER, object: OBJECT, string: STRING },
};

/** The functions of a table, with all that their signatures say: `substring(string, start, end?) string` takes two or three. */
export function functionsOf(
  group: Named["group"],
  rows: readonly FunctionRow[],
): [string, FunctionSpec][] {
  const specs = rows.map((row) => {
    const [, list = "", result = ""] = /\((.*?)\).* (\w+)$/.exec(row.signature) ?? [];
    const words = list.split(", ").filter((word) => word !== "" && word !== "…");
    const rest = list.endsWith("…");
    const params =
      row.params ??
      words.map((word) => unionOfAll(word.split("|").map((name) => TYPES[name] as FlowType)));
    const least = words.filter((word) => !word.endsWith("?")).length;
    const arity = [least, rest ? Number.POSITIVE_INFINITY : params.length] as const;
    return { ...row, params, returns: row.returns ?? (TYPES[result] as FlowType), arity, rest };
  });
  return named<FunctionSpec>(group, specs);
}
