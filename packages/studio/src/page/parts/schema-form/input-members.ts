/** The inputs of a flow as members of a form. */
import type { FlowInput, Json, JsonObject } from "@millrace/contracts";
import type { FormMember } from "./group-controls.tsx";
import { startValue } from "./shape.ts";

/** An input as a field: with its schema, default and description. */
export function inputMember({
  name,
  schema = {},
  default: value,
  description,
}: FlowInput): FormMember {
  return {
    name,
    root: schema,
    isRequired: value === undefined,
    schema: {
      ...schema,
      ...(value !== undefined && { default: value }),
      ...(description !== undefined && { description }),
    },
  };
}

/** First values of the fields: the given ones, else the defaults, else the smallest value that they show. */
export function startInputs(inputs: readonly FlowInput[], given: JsonObject): JsonObject {
  return Object.fromEntries(
    inputs.flatMap((input): [string, Json][] => {
      const { name, schema, root } = inputMember(input);
      const value = Object.hasOwn(given, name) ? given[name] : startValue(schema, root);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
