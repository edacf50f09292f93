/** Shapes of options, and their refusal: `EngineError` `input_invalid` with the name of the option and what it must be. */
import { isObject } from "@millrace/contracts/kit";
import {
  type Fields,
  must,
  type ObjectShape,
  object,
  optionals,
  optionsProblem,
  rule,
  type Shape,
} from "@millrace/contracts/shape";
import { EngineError } from "./errors.ts";
import { DEFAULT_LIMITS } from "./limits.ts";

/** The shape of options: one for every member of the type, so that none is forgotten. */
export function optionsOf<T>(shapes: { readonly [K in keyof Required<T>]: Shape }): ObjectShape {
  return object(optionals(shapes as Fields));
}

/** True for strings. */
export const isText = (value: unknown): value is string => typeof value === "string";
/** True for numbers from 0; Infinity is a number without a bound. */
export const isAmount = (value: unknown): value is number =>
  typeof value === "number" && value >= 0;

/** True for what has all of these methods. */
export const has =
  (...methods: readonly string[]) =>
  (value: unknown): boolean =>
    methods.every((name) => typeof Object(value)[name] === "function");

/** An object of any members. */
export const RECORD: Shape = must(isObject, "an object");
/** Any string. */
export const TEXT: Shape = must(isText, "text");
/** `true` or `false`, with the message of options. */
export const FLAG: Shape = must((value) => typeof value === "boolean", "true or false");
/** A number from 1; Infinity is no limit. */
export const COUNT: Shape = must((value) => isAmount(value) && value >= 1, "a number from 1");
/** Milliseconds from 0; Infinity is no limit. */
export const MILLISECONDS: Shape = must(isAmount, "milliseconds, 0 or more");

/** A number from 0; Infinity is no limit. */
export const AMOUNT: Shape = must(isAmount, "0 or more");
/** Some of the limits, by name. */
export const LIMITS: Shape = rule((limits) => {
  if (!isObject(limits)) return "must be an object";
  const known = Object.keys(DEFAULT_LIMITS);
  const unknown = Object.keys(limits).find((name) => !known.includes(name));
  if (unknown !== undefined) return `has no "${unknown}"; there are ${known.join(", ")}`;
  const wrong = known.filter((name) => limits[name] !== undefined && !isAmount(limits[name]));
  return wrong.map((name) => ({ pointer: `/${name}`, message: "must be 0 or more" }));
});

/** Throws for the first mistake: unknown names before values. */
export function checkOptions(options: unknown, shape: ObjectShape): void {
  const problem = optionsProblem(options, shape);
  if (problem === undefined) return;
  const { name, message } = problem;
  const text = name === undefined ? message : `options.${name} ${message}`;
  throw new EngineError("input_invalid", text);
}
