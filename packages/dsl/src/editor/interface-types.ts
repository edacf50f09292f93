/** The types of what a flow takes and gives, as far as they are declared or can be inferred. */

import type { Json } from "@millrace/contracts/json";
import { declared } from "../check/model/bodies.ts";
import { isObject, markerOf, objectOrNone, own } from "../data.ts";
import { treeOf } from "../syntax/trees.ts";
import { ANY, describeType, type FlowType, LIST, OBJECT, STRING } from "../types/flow-type.ts";
import { typeFromSchema } from "../types/from-schema.ts";
import { findTypes } from "../types/infer.ts";
import type { Reading } from "./reading.ts";
import type { InterfaceTypes } from "./types.ts";

/** The types of inputs and outputs by their names; one that nothing is known of has no entry. */
export function interfaceTypes(reading: Reading): InterfaceTypes {
  const { graph } = reading.validation;
  const inputs = namedTypes(graph, "inputs", (input) => declaredType(input) ?? ANY);
  const outputs = namedTypes(
    graph,
    "outputs",
    (output) => declaredType(output) ?? valueType(reading, own(output, "value") as Json),
  );
  return { inputs, outputs };
}

function namedTypes(
  graph: object,
  list: "inputs" | "outputs",
  typeOf: (value: unknown) => FlowType,
): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const { value } of declared(graph, list)) {
    const type = typeOf(value);
    if (type.kind !== "any") types.set(String(own(value, "name")), describeType(type));
  }
  return types;
}

/** The type that the schema says; undefined: none is written, or it says nothing. */
function declaredType(value: unknown): FlowType | undefined {
  const schema = own(value, "schema");
  if (schema === undefined) return undefined;
  const type = typeFromSchema(objectOrNone(schema));
  return type.kind === "any" ? undefined : type;
}

function valueType(reading: Reading, value: Json | undefined): FlowType {
  if (value === undefined) return ANY;
  if (Array.isArray(value)) return LIST;
  if (!isObject(value)) return typeFromSchema({ const: value });
  const marker = markerOf(value);
  if (marker === "$t") return STRING;
  if (marker === "$lit") return typeFromSchema({ const: own(value, "$lit") as Json });
  if (marker !== "$") return OBJECT;
  const tree = treeOf(String(own(value, "$")));
  if (!("kind" in tree)) return ANY;
  const { root } = reading.model;
  return findTypes(tree, reading.types(root).env(root, [])).type;
}
