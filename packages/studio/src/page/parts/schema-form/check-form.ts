/** Problems of the value of a form, by place. The rules are those of `compileSchema`, which the server uses too. */
import { ClientError } from "@millrace/client";
import type { FlowInput, Json, JsonObject, JsonSchema } from "@millrace/contracts";
import { isObject, pointerKeys, pointerSegment } from "@millrace/contracts/kit";
import { compileSchema } from "@millrace/dsl";
import { memberOf, unreadPlaces, withMember } from "./form-value.ts";

/** Something wrong at a place of a form. `pointer`: a JSON Pointer into the value. */
export interface FormFinding {
  readonly pointer: string;
  readonly message: string;
}

const MISSING = /^needs the member (".*")$/s;

/** Everything that is wrong with a value; none: it may be sent. */
export function checkForm(schema: JsonSchema, value: Json | undefined): readonly FormFinding[] {
  const unread = unreadPlaces(value);
  const broken = rulesOf(schema)(value ?? null).map(atMember);
  return [
    ...unread.map((pointer) => ({ pointer, message: "is not JSON" })),
    ...broken.filter(({ pointer }) => !unread.some((place) => isWithin(pointer, place))),
  ];
}

const ANY: JsonSchema = {};
const NO_RULES: Rules = () => [];

type Rules = (value: Json) => readonly FormFinding[];

const read = new WeakMap<JsonSchema, Rules>();

/** The rules of a schema, read once: a value is checked whenever somebody types. */
function rulesOf(schema: JsonSchema): Rules {
  const rules = read.get(schema) ?? readRules(schema);
  read.set(schema, rules);
  return rules;
}

/** The rules of a schema. Words that cannot be checked here are left out: the server checks them. */
function readRules(schema: JsonSchema): Rules {
  const compiled = compileSchema(schema);
  if (compiled.ok) return compiled.check;
  const checked = compiled.problems.reduce<Json | undefined>(
    (rest, { pointer }) => without(rest, pointerKeys(pointer)),
    schema,
  );
  const second = compileSchema(isObject(checked) ? (checked as JsonSchema) : {});
  return second.ok ? second.check : NO_RULES;
}

/** A value without the member at a place. */
function without(value: Json | undefined, [key, ...below]: readonly string[]): Json | undefined {
  if (key === undefined) return undefined;
  if (Array.isArray(value)) {
    return value.map((item, at) => (`${at}` === key ? (without(item, below) ?? {}) : item));
  }
  if (!isObject(value) || !Object.hasOwn(value, key)) return value;
  return withMember(value as JsonObject, key, without(memberOf(value as JsonObject, key), below));
}

/** Everything that is wrong with the inputs of a run: of declared ones, missing ones, and ones that the flow does not have. */
export function checkInputs(
  declared: readonly FlowInput[],
  values: JsonObject,
): readonly FormFinding[] {
  const findings = declared.flatMap((input): readonly FormFinding[] => {
    const { name, schema = ANY } = input;
    const pointer = pointerSegment(name);
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) {
      return input.default === undefined ? [{ pointer, message: "is required" }] : [];
    }
    return checkForm(schema, value).map((finding) => ({
      ...finding,
      pointer: pointer + finding.pointer,
    }));
  });
  const names = new Set(declared.map(({ name }) => name));
  const unknown = Object.keys(values).filter((name) => !names.has(name));
  return [
    ...findings,
    ...unknown.map((name) => ({
      pointer: pointerSegment(name),
      message: "is not an input of this flow",
    })),
  ];
}

/** The places that a refusal of the server names, as places of the form; `prefix`: where its value is in the arguments. */
export function findingsOf(error: unknown, prefix: string): readonly FormFinding[] {
  const { errors = [], code } = (ClientError.isInstance(error) ? error.problem : undefined) ?? {};
  // Only what does not fit the command is told by its place in the arguments.
  const before = code === "invalid_args" ? prefix : "";
  return errors.flatMap(({ pointer, message }) =>
    isWithin(pointer, before) ? [{ pointer: pointer.slice(before.length), message }] : [],
  );
}

/** Whether a place is another one or below it. */
function isWithin(pointer: string, place: string): boolean {
  return pointer === place || pointer.startsWith(`${place}/`);
}

/** A missing member is told at its own field. */
function atMember(finding: FormFinding): FormFinding {
  const [, name] = MISSING.exec(finding.message) ?? [];
  if (name === undefined) return finding;
  const pointer = finding.pointer + pointerSegment(JSON.parse(name) as string);
  return { pointer, message: "is required" };
}
