/** Rules of options: a test for each name, and a refusal that says what the value must be. */
import { unknownOption } from "@millrace/contracts/options";
import { EngineError } from "./errors.ts";

/** True for a value that an option may have. */
export type Test = (value: unknown) => boolean;

export const isObject: Test = (value) => typeof value === "object" && value !== null;
export const isRecord: Test = (value) => isObject(value) && !Array.isArray(value);
export const isText: Test = (value) => typeof value === "string";
export const isFunction: Test = (value) => typeof value === "function";
/** Infinity is a number without a bound. */
export const isAmount: Test = (value) => typeof value === "number" && value >= 0;
export const isCount: Test = (value) => isAmount(value) && (value as number) >= 1;
export const oneOf =
  (...values: readonly unknown[]): Test =>
  (value) =>
    values.includes(value);
export const has =
  (...methods: readonly string[]): Test =>
  (value) =>
    isObject(value) &&
    methods.every((name) => typeof (value as { [name: string]: unknown })[name] === "function");

/** A test, and what the value must be. */
export type Rules<T> = { readonly [K in keyof Required<T>]: readonly [Test, string] };

export const RECORD: readonly [Test, string] = [isRecord, "an object"];
export const TEXT: readonly [Test, string] = [isText, "text"];
export const MILLISECONDS: readonly [Test, string] = [isAmount, "milliseconds, 0 or more"];

/** Throws `EngineError` `input_invalid` for the first option without a rule, or that its test refuses. `at`: what stands before each name. */
export function checkRules<T extends object>(options: T, rules: Rules<T>, at = ""): void {
  if (!isRecord(options)) throw new EngineError("input_invalid", "options must be an object");
  checkNames(options, rules, at);
  for (const name of Object.keys(rules) as (keyof T & string)[]) {
    const [test, what] = rules[name] as readonly [Test, string];
    if (options[name] !== undefined && !test(options[name])) throw invalid(at + name, what);
  }
}

/** The same for names alone. */
export function checkNames(options: object | undefined, known: object, at: string): void {
  const problem = unknownOption(options ?? {}, known, at);
  if (problem !== undefined) throw new EngineError("input_invalid", problem);
}

/** The refusal of an option. */
export function invalid(name: string, what: string): EngineError {
  return new EngineError("input_invalid", `options.${name} must be ${what}`);
}
