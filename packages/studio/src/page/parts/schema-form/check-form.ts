/** What is wrong with the value of a form, by place. The rules are those of `compileSchema`, which the server uses too. */
import { ClientError } from "@millrace/client";
import type { FlowInput, Json, JsonObject, JsonSchema } from "@millrace/contracts";
import { pointerSegment } from "@millrace/contracts/kit";
import { compileSchema } from "@millrace/dsl";
import { unreadPlaces } from "./form-value.ts";

/** Something wrong at a place of a form. `pointer`: a JSON Pointer into the value. */
export interface FormFinding {
  readonly pointer: string;
  readonly message: string;
}

const MISSING = /^needs the member (".*")$/s;

/** Everything that is wrong with a value; none: it may be sent. A schema that cannot be compiled is left to the server. */
export function checkForm(schema: JsonSchema, value: Json | undefined): readonly FormFinding[] {
  const unread = unreadPlaces(value);
  const compiled = compileSchema(schema);
  const broken = compiled.ok ? compiled.check(value ?? null).map(atMember) : [];
  return [
    ...unread.map((pointer) => ({ pointer, message: "is not JSON" })),
    ...broken.filter(({ pointer }) => !unread.some((place) => isWithin(pointer, place))),
  ];
}

/** Everything that is wrong with the inputs of a run: of declared ones, missing ones, and ones that the flow does not have. */
export function checkInputs(
  declared: readonly FlowInput[],
  values: JsonObject,
): readonly FormFinding[] {
  const findings = declared.flatMap((input): readonly FormFinding[] => {
    const { name, schema = {} } = input;
    const pointer = pointerSegment(name);
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) {
      return input.default === undefined ? [{ pointer, message: "is needed" }] : [];
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
    ...unknown.map((name) => ({ pointer: pointerSegment(name), message: "is no input" })),
  ];
}

/** The places that a refusal of the server names, below `prefix` of its request, such as `/inputs`. */
export function findingsOf(error: unknown, prefix: string = ""): readonly FormFinding[] {
  const { errors = [] } = (ClientError.isInstance(error) ? error.problem : undefined) ?? {};
  return errors.flatMap(({ pointer, message }) =>
    isWithin(pointer, prefix) ? [{ pointer: pointer.slice(prefix.length), message }] : [],
  );
}

/** Whether a place is another one or below it. */
export function isWithin(pointer: string, place: string): boolean {
  return pointer === place || pointer.startsWith(`${place}/`);
}

/** A missing member is told at its own field. */
function atMember(finding: FormFinding): FormFinding {
  const [, name] = MISSING.exec(finding.message) ?? [];
  if (name === undefined) return finding;
  const pointer = finding.pointer + pointerSegment(JSON.parse(name) as string);
  return { pointer, message: "is needed" };
}
