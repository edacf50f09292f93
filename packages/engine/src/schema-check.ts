/** JSON Schema checks, compiled once per schema object. */
import type { JsonSchema } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { compileSchema, type SchemaProblem } from "@millrace/dsl";

const checks = new WeakMap<JsonSchema, (value: unknown) => readonly SchemaProblem[]>();

/** Problems of `value` against `schema`; those of the schema itself when it is invalid. */
export function schemaProblems(schema: JsonSchema, value: unknown): readonly SchemaProblem[] {
  return schemaCheck(schema)(value);
}

/** The same for many values. */
export function schemaCheck(schema: JsonSchema): (value: unknown) => readonly SchemaProblem[] {
  let check = checks.get(schema);
  if (check === undefined) {
    check = isAnyRecord(schema) ? checkRecord : compiled(schema);
    checks.set(schema, check);
  }
  return check;
}

function compiled(schema: JsonSchema): (value: unknown) => readonly SchemaProblem[] {
  const made = compileSchema(schema);
  return made.ok ? made.check : () => made.problems;
}

/** Most types only promise some record; that needs no walk. */
function isAnyRecord(schema: JsonSchema): boolean {
  return schema["type"] === "object" && Object.keys(schema).length === 1;
}

/** The keywords of a schema that cannot be checked. */
export function unreadable(schema: JsonSchema): readonly SchemaProblem[] {
  const made = compileSchema(schema);
  return made.ok ? NO_PROBLEMS : made.problems;
}

const NO_PROBLEMS: readonly SchemaProblem[] = [];
const NO_RECORD: readonly SchemaProblem[] = [{ pointer: "", message: "must be an object" }];

function checkRecord(value: unknown): readonly SchemaProblem[] {
  return isObject(value) ? NO_PROBLEMS : NO_RECORD;
}
