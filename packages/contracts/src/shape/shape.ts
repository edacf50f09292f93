/**
 * Shapes of data that others write: events, definitions, descriptors, files of extensions, settings, options. A shape is data.
 * `faults.ts` checks a value by it, `json-schema.ts` says it in JSON Schema, and `Infer<typeof shape>` is its TypeScript type.
 */

/** Description of the valid values of type `T`. */
export type Shape<T = unknown> = Kind & {
  /** The member may be absent or `undefined`. */
  readonly isOptional?: true;
  /** Never there: it carries the type. A tuple: of a bare optional member, compilers differ in what they infer. */
  readonly "~type"?: readonly [T];
};

/** The type of the values that have this shape. */
export type Infer<S> = S extends { readonly "~type"?: readonly [infer T] } ? T : never;

/** Members by name. */
export interface Fields {
  readonly [name: string]: Shape;
}

/** A value that a closed list may hold. */
export type Scalar = string | number | boolean;

/** Limits of a length, a size or a number, both included. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

type Kind =
  | { readonly is: "object"; readonly fields: Fields; readonly entries: readonly Entry[] }
  | ({ readonly is: "list"; readonly of: Shape; readonly unique: string | undefined } & Bounds)
  | { readonly is: "record"; readonly of: Shape; readonly max: number; readonly maxKey: number }
  | ({ readonly is: "text"; readonly what: string; readonly pattern: RegExp | undefined } & Bounds)
  | { readonly is: "word"; readonly values: readonly Scalar[]; readonly isOpen: boolean }
  | ({ readonly is: "number"; readonly isWhole: boolean } & Bounds)
  | { readonly is: "nullable"; readonly of: Shape }
  | { readonly is: "variant"; readonly tag: string; readonly shapes: Fields; readonly other: Shape }
  | { readonly is: "rule"; readonly type: "string" | "object" | undefined; readonly test: Test };

/** A member as a list has it, which is walked faster than an object. */
type Entry = readonly [name: string, shape: Shape];

/** The kind of shape of this name, such as `KindOf<"list">`. */
export type KindOf<I> = Extract<Kind, { is: I }>;

/** A place and what is wrong there, as the rest of a sentence: `must be a list`. */
export interface Problem {
  readonly pointer: string;
  readonly message: string;
}

/** The problem of a value, several with their places, or undefined. */
type Test = (value: unknown) => string | readonly Problem[] | undefined;

/** An object of known members. */
export type ObjectShape<T = unknown> = Shape<T> & KindOf<"object">;

type Flat<T> = { [K in keyof T]: T[K] };

/** Members that `optional` adds to a shape. */
export interface Optional {
  readonly isOptional: true;
}
type Members<F> = Flat<
  { readonly [K in keyof F as F[K] extends Optional ? never : K]: Infer<F[K]> } & {
    readonly [K in keyof F as F[K] extends Optional ? K : never]?: Infer<F[K]>;
  }
>;

/** An object of exactly these members, required ones first. */
export function object<const F extends Fields>(fields: F): ObjectShape<Members<F>> {
  return {
    is: "object",
    fields: Object.assign(Object.create(null), fields) as Fields, // so that no name is inherited
    entries: Object.entries(fields),
  };
}

/** A member that may be absent or `undefined`. */
export function optional<S extends Shape>(shape: S): S & Optional {
  return { ...shape, isOptional: true };
}

/** The same shapes, each optional. */
export function optionals<const F extends Fields>(
  fields: F,
): { readonly [K in keyof F]: F[K] & Optional } {
  const made = Object.entries(fields).map(([name, shape]) => [name, optional(shape)]);
  return Object.fromEntries(made) as { readonly [K in keyof F]: F[K] & Optional };
}

/** A list of `min` to `max` members; `unique` names the member whose values must differ ("" for the members themselves). */
export function list<T>(
  of: Shape<T>,
  { min = 0, max = Number.MAX_SAFE_INTEGER, unique = undefined as string | undefined } = {},
): Shape<readonly T[]> {
  return { is: "list", of, min, max, unique };
}

/** An object of at most `max` members of one shape, whose names have at most `maxKey` units. */
export function record<T>(
  of: Shape<T>,
  max: number = Number.POSITIVE_INFINITY,
  maxKey: number = Number.POSITIVE_INFINITY,
): Shape<{ readonly [name: string]: T }> {
  return { is: "record", of, max, maxKey };
}

/** A string of `min` (1) to `max` (4,096, a page) UTF-16 units that matches `pattern`; `what` describes it in the message. */
export function text(
  what: string,
  { min = 1, max = 4_096, pattern = undefined as RegExp | undefined } = {},
): Shape<string> {
  return { is: "text", what, min, max, pattern };
}

/** One of a closed list. */
export function oneOf<const V extends Scalar>(...values: readonly V[]): Shape<V> {
  return { is: "word", values, isOpen: false };
}

/** One of a list that may grow: tolerant readers accept any word. */
export function open<const V extends string>(...values: readonly V[]): Shape<V> {
  return { is: "word", values, isOpen: true };
}

/** A whole number from `min` to `max` (the greatest safe integer), both included. */
export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): Shape<number> {
  return { is: "number", min, max, isWhole: true };
}

/** A number from `min` (0) to `max` (the greatest). */
export function amount(max: number = Number.MAX_VALUE, min = 0): Shape<number> {
  return { is: "number", min, max, isWhole: false };
}

/** A value of the shape, or `null`. */
export function nullable<T>(of: Shape<T>): Shape<T | null> {
  return { is: "nullable", of };
}

/** The shape that the member `tag` chooses; `other` when it chooses none. */
export function variant<const F extends Fields, T = never>(
  tag: string,
  shapes: F,
  other: Shape<T>,
): Shape<Infer<F[keyof F]> | T> {
  const byTag = Object.assign(Object.create(null), shapes) as Fields;
  return { is: "variant", tag, shapes: byTag, other };
}

/** A check of its own; `type` is the kind of JSON that it takes, where there is one. */
export function rule<T = unknown>(test: Test, type?: "string" | "object"): Shape<T> {
  return { is: "rule", test, type };
}

/** A value that `holds`; `what` it must be, for the message. */
export function must<T = unknown>(holds: (value: unknown) => boolean, what: string): Shape<T> {
  return rule((value) => (holds(value) ? undefined : `must be ${what}`));
}

/** `true` or `false`. */
export const flag: Shape<boolean> = oneOf(true, false);
/** A function; it has no JSON Schema. */
export const fn: Shape = must((value) => typeof value === "function", "a function");
