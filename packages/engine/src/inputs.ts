/** Inputs of a flow: defaults filled in, checked against their schemas. */

import type { Diagnostic, FlowInput, Json, JsonObject } from "@millrace/contracts";
import { isObject, pointerSegment } from "@millrace/contracts/kit";
import { schemaProblems } from "./schema-check.ts";
import { toOutput } from "./values.ts";

/** Result of checking inputs. `inputs` is complete only when there are no problems. */
export interface CheckedInputs {
  readonly inputs: JsonObject;
  readonly problems: readonly Diagnostic[];
}

/** One for all runs without inputs: many may be parked at once. */
const NO_INPUTS: CheckedInputs = Object.freeze({ inputs: Object.freeze({}), problems: [] });

/** Checks `given` against the inputs that a flow declares. */
export function checkInputs(declared: readonly FlowInput[], given: unknown): CheckedInputs {
  // A Map or URLSearchParams has no member of its own: its values would be passed over.
  if (!isObject(given) || Symbol.iterator in given) {
    return { inputs: {}, problems: [problem("", "inputs must be an object by input name")] };
  }
  if (declared.length === 0 && Object.keys(given).length === 0) return NO_INPUTS;
  const problems: Diagnostic[] = [];
  const inputs = new Map<string, Json>();
  for (const input of declared) {
    const value = takeInput(input, given as JsonObject, problems);
    if (value !== undefined) inputs.set(input.name, value);
  }
  const names = new Set(declared.map(({ name }) => name));
  for (const name of Object.keys(given)) {
    if (!names.has(name)) {
      const known = names.size === 0 ? "it has none" : `it has ${[...names].join(", ")}`;
      problems.push(problem(pointerSegment(name), `the flow has no input ${name}; ${known}`));
    }
  }
  return { inputs: Object.freeze(Object.fromEntries(inputs)), problems };
}

function takeInput(input: FlowInput, given: JsonObject, problems: Diagnostic[]): Json | undefined {
  const { name, schema } = input;
  const pointer = pointerSegment(name);
  if (!Object.hasOwn(given, name) || given[name] === undefined) {
    if (input.default !== undefined) return input.default;
    problems.push(problem(pointer, `the input ${name} is required`));
    return undefined;
  }
  let value: Json;
  try {
    value = toOutput(given[name]);
  } catch {
    problems.push(problem(pointer, `the input ${name} is not JSON`));
    return undefined;
  }
  const found = schema === undefined ? [] : schemaProblems(schema, value);
  for (const one of found) {
    problems.push(problem(pointer + one.pointer, `the input ${name} ${one.message}`));
  }
  return value;
}

function problem(pointer: string, message: string): Diagnostic {
  return { code: "input_invalid", severity: "error", message, pointer };
}
