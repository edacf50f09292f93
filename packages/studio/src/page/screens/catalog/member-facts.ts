/** Fields and outputs of a catalog entry, as words for a table, and its examples as text of a flow. */
import type { CatalogEntry, FlowGraph, Json, JsonSchema } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { describeType, printFlow, typeFromSchema } from "@millrace/dsl";

/** A member of an object schema. */
export interface MemberFacts {
  readonly name: string;
  /** Its type as the language says it, such as `list of string`. */
  readonly type: string;
  readonly isRequired: boolean;
  /** JSON of the default. */
  readonly standard: string | undefined;
  readonly description: string;
  /** JSON of the values that it may have; empty: any of its type. */
  readonly choices: readonly string[];
}

/** The members of an object schema, in its order. */
export function membersOfSchema(schema: JsonSchema): readonly MemberFacts[] {
  const { properties, required } = schema;
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(isObject(properties) ? properties : {}).map(([name, given]) => {
    const member = (isObject(given) ? given : {}) as JsonSchema;
    const { description, default: standard } = member;
    return {
      name,
      type: typeOfSchema(member),
      isRequired: needed.has(name),
      standard: standard === undefined ? undefined : JSON.stringify(standard),
      description: typeof description === "string" ? description : "",
      choices: choicesOf(member).map((choice) => JSON.stringify(choice)),
    };
  });
}

/** The type of a schema, as the language says it. */
export function typeOfSchema(schema: JsonSchema): string {
  const type = typeFromSchema(schema);
  return type.kind === "any" ? "any value" : describeType(type);
}

/** An example as a node in a flow; JSON of its fields where it is no node. */
export function exampleText(
  { type }: Pick<CatalogEntry, "type">,
  sample: CatalogEntry["examples"][number],
): string {
  const { fields = {}, body } = sample;
  const id = type.slice(type.lastIndexOf(".") + 1).replace(/[^A-Za-z0-9_]/g, "_");
  const graph = {
    version: 1,
    id: "x",
    inputs: [],
    nodes: [{ id, type, fields, ...(body !== undefined && { body }) }],
    edges: [],
    outputs: [],
    connections: [],
    schedules: [],
  } as unknown as FlowGraph; // What is no node is refused by the printer.
  try {
    const text = printFlow(graph);
    return text.slice(text.indexOf("\n")).trim();
  } catch {
    return JSON.stringify(fields, null, 2);
  }
}

function choicesOf({ enum: choices, items }: JsonSchema): readonly Json[] {
  if (Array.isArray(choices)) return choices;
  return isObject(items) ? choicesOf(items as JsonSchema) : [];
}
