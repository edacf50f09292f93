/** Checks of options from untyped callers: an unknown name is a mistake, and never ignored. */
import { nearestName } from "./kit/nearest-name.ts";

/** The names of an options type, all of them: `const NAMES: OptionNames<ClientOptions> = { url: true, … }`. */
export type OptionNames<T> = { readonly [K in keyof Required<T>]: unknown };

/** The problem of the names of `options`, as a sentence; undefined: none. `at`: the option that they are members of. */
export function unknownOption(options: object, known: object, at = ""): string | undefined {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return undefined;
  const names = Object.keys(known);
  const near = nearestName(unknown, names);
  const hint =
    near === undefined ? `there are ${names.join(", ")}` : `did you mean "${at}${near}"?`;
  return `unknown option "${at}${unknown}"; ${hint}`;
}

/** Throws `TypeError` for options of `caller` that are no object, or have an unknown name. */
export function checkOptions<T extends object>(
  caller: string,
  options: T,
  known: OptionNames<T>,
): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`${caller}: options must be an object`);
  }
  const problem = unknownOption(options, known);
  if (problem !== undefined) throw new TypeError(`${caller}: ${problem}`);
}
