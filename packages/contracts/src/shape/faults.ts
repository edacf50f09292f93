/**
 * What is wrong with a value, by its shape.
 *   K1  A check changes nothing and throws only what a getter of the value throws.
 *   K2  Faults come in the order of the value, missing members first.
 */
import { isObject } from "../kit/objects.ts";
import { pointerKeys, pointerSegment } from "../kit/pointer.ts";
import { unknownOption } from "../options.ts";
import {
  type Bounds,
  type KindOf,
  type ObjectShape,
  type Problem,
  rule,
  type Scalar,
  type Shape,
} from "./shape.ts";

/** One fault. `twice`: of a member of a list that differs from no other one; `rule`: `message` has it. */
export interface Fault {
  readonly pointer: string;
  readonly kind: "type" | "size" | "key" | "missing" | "unknown" | "twice" | "rule";
  readonly shape: Shape;
  /** The value; of `missing` and `unknown` the name of the member. */
  readonly value: unknown;
  readonly message?: string;
}

/**
 * All faults of a value. `strict` is the temper of a writer: known members and words only. Otherwise that of a reader: further
 * members pass, and further words of open lists.
 */
export function faultsOf(value: unknown, shape: Shape, strict = true): readonly Fault[] {
  switch (shape.is) {
    case "text": {
      const { min, max, pattern } = shape;
      if (typeof value !== "string" || value.length < min || value.length > max) break;
      if (pattern === undefined || pattern.test(value)) return NONE;
      break;
    }
    case "number":
      if (typeof value !== "number" || (shape.isWhole && !Number.isSafeInteger(value))) break;
      if (value >= shape.min && value <= shape.max) return NONE;
      break;
    case "word":
      if (strict || !shape.isOpen) {
        if (shape.values.includes(value as Scalar)) return NONE;
      } else if (typeof value === "string" && value !== "" && value.length <= MAX_WORD) return NONE;
      break;
    case "object":
      return isObject(value) ? objectFaults(value, shape, strict) : wrong(shape, value);
    case "list":
      return Array.isArray(value) ? listFaults(value, shape, strict) : wrong(shape, value);
    case "record":
      return isObject(value) ? recordFaults(value, shape, strict) : wrong(shape, value);
    case "nullable":
      return value === null ? NONE : faultsOf(value, shape.of, strict);
    case "variant": {
      const chosen = isObject(value) ? shape.shapes[String(value[shape.tag])] : undefined;
      return faultsOf(value, chosen ?? shape.other, strict);
    }
    case "rule": {
      const found = shape.test(value);
      if (found === undefined) return NONE;
      const problems = typeof found === "string" ? [{ pointer: "", message: found }] : found;
      return problems.map((problem) => ({ ...problem, kind: "rule", shape, value }));
    }
  }
  return wrong(shape, value);
}

const NONE: readonly Fault[] = Object.freeze([]);
const MAX_WORD = 64; // no word of a list that may grow is longer

function isWithin(size: number, { min, max }: Bounds): boolean {
  return size >= min && size <= max;
}

type Named = { readonly [name: string]: unknown };

/**
 * The members of the shape are looked at in its order, which costs nothing where all is well. Names are looked up only where the
 * value has others, and the order of the value counts only where something is wrong.
 */
function objectFaults(value: Named, shape: KindOf<"object">, strict: boolean): readonly Fault[] {
  const { entries } = shape;
  let faults = NONE;
  let known = 0;
  for (let i = 0; i < entries.length; i += 1) {
    const [name, field] = entries[i] as (typeof entries)[number];
    const member = value[name];
    if (member === undefined) {
      if (field.isOptional !== true) faults = add(faults, name, wrong(shape, name, "missing"));
      else if (Object.hasOwn(value, name)) known += 1;
    } else {
      known += 1;
      faults = add(faults, name, faultsOf(member, field, strict));
    }
  }
  if (!strict || (faults === NONE && Object.keys(value).length === known)) return faults;
  return strictFaults(value, shape);
}

/** Missing members, then unknown and wrong ones in the order of the value. */
function strictFaults(value: Named, shape: KindOf<"object">): readonly Fault[] {
  let faults = NONE;
  for (const [name, field] of shape.entries) {
    if (value[name] !== undefined || field.isOptional === true) continue;
    faults = add(faults, name, wrong(shape, name, "missing"));
  }
  for (const name of Object.keys(value)) {
    const field = shape.fields[name];
    if (field === undefined) faults = add(faults, name, wrong(shape, name, "unknown"));
    else if (value[name] !== undefined) faults = add(faults, name, faultsOf(value[name], field));
  }
  return faults;
}

function listFaults(
  value: readonly unknown[],
  shape: KindOf<"list">,
  strict: boolean,
): readonly Fault[] {
  const { of, unique } = shape;
  let faults = isWithin(value.length, shape) ? NONE : wrong(shape, value, "size");
  const seen = unique === undefined ? undefined : new Set<unknown>();
  for (let i = 0; i < value.length; i += 1) {
    const member = value[i];
    faults = add(faults, i, faultsOf(member, of, strict));
    if (unique === undefined || seen === undefined) continue;
    const isWhole = unique === "" || !isObject(member);
    const key = isWhole ? member : member[unique];
    if (seen.has(key)) {
      const pointer = unique === "" ? "" : pointerSegment(unique);
      faults = add(faults, i, [{ pointer, kind: "twice", shape, value: key }]);
    }
    seen.add(key);
  }
  return faults;
}

function recordFaults(value: Named, shape: KindOf<"record">, strict: boolean): readonly Fault[] {
  const names = Object.keys(value);
  let faults = names.length > shape.max ? wrong(shape, value, "size") : NONE;
  for (const name of names) {
    if (name.length > shape.maxKey) return [...faults, ...wrong(shape, name, "key")];
    faults = add(faults, name, faultsOf(value[name], shape.of, strict));
  }
  return faults;
}

function wrong(shape: Shape, value: unknown, kind: Fault["kind"] = "type"): Fault[] {
  return [{ pointer: "", kind, shape, value }];
}

/** `faults` and those of the member `key`; only the first of them makes a list. */
function add(
  faults: readonly Fault[],
  key: string | number,
  inner: readonly Fault[],
): readonly Fault[] {
  if (inner.length === 0) return faults;
  const all = faults === NONE ? [] : (faults as Fault[]);
  const step = pointerSegment(key);
  for (const fault of inner) all.push({ ...fault, pointer: step + fault.pointer });
  return all;
}

/** All problems of a value, in words for its author. */
export function problemsOf(value: unknown, shape: Shape): readonly Problem[] {
  return faultsOf(value, shape).map((fault) => ({
    pointer: fault.pointer,
    message: messageOf(fault),
  }));
}

/** A fault in words, as the rest of a sentence. */
function messageOf({ kind, shape, value, message = "" }: Fault): string {
  switch (kind) {
    case "rule":
      return message;
    case "missing":
      return "is missing";
    case "twice":
      return `${JSON.stringify(value)} is there twice`;
    case "unknown":
      return `is unknown; members are ${Object.keys((shape as ObjectShape).fields).join(", ")}`;
  }
  switch (shape.is) {
    case "list":
      return kind === "size"
        ? `must have ${shape.min} to ${shape.max} members, found ${(value as unknown[]).length}`
        : "must be a list";
    case "text":
      return typeof value === "string" && isWithin(value.length, shape)
        ? `must be ${shape.what}, found "${value.slice(0, 60)}"`
        : `must be ${shape.what}, ${shape.min} to ${shape.max} characters`;
    case "word":
      return `must be one of ${shape.values.map((each) => JSON.stringify(each)).join(", ")}`;
    case "number":
      return `must be ${shape.isWhole ? "an integer" : "a number"} from ${shape.min} to ${shape.max}`;
    default:
      return "must be an object";
  }
}

/** A shape, and a rule for values that are looked at whether they have it or not. */
export function also<T>(shape: Shape<T>, test: (value: unknown) => readonly Problem[]): Shape<T> {
  return rule((value) => [...problemsOf(value, shape), ...test(value)]);
}

/**
 * The first thing that is wrong with options, names before values. `name`, such as `egress.allow`, is that of the option of which
 * `message` speaks (`must be an object`); absent, `message` is a whole sentence.
 */
export function optionsProblem(
  options: unknown,
  shape: ObjectShape,
): { readonly name?: string; readonly message: string } | undefined {
  if (!isObject(options)) return { message: "options must be an object" };
  const faults = faultsOf(options, shape);
  const first = faults.find(({ kind }) => kind === "unknown") ?? faults[0];
  if (first === undefined) return undefined;
  const keys = pointerKeys(first.pointer);
  const message = messageOf(first);
  if (first.kind !== "unknown") return { name: keys.join("."), message };
  const at = keys
    .slice(0, -1)
    .map((key) => `${key}.`)
    .join("");
  const { fields } = first.shape as ObjectShape;
  return { message: unknownOption({ [keys.at(-1) ?? ""]: 0 }, fields, at) ?? message };
}
