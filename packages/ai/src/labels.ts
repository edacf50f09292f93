/** Labels of a `classify` node: the schema that its answer has to fit, and what an answer chooses. */
import type { Json, JsonObject, JsonSchema } from "@millrace/contracts";

/** A label; its name is also the name of a port. */
export interface Label {
  readonly name: string;
  readonly description?: string | undefined;
}

/** How many labels an answer may name, and which one stands in for none. */
export interface LabelOptions {
  readonly multi?: boolean | undefined;
  readonly fallbackLabel?: string | undefined;
}

/** Ports that every `ai` node has anyway. */
const TAKEN: ReadonlySet<string> = new Set(["out", "error"]);

/** The schema of the answer: `{label}`, or with `multi` `{labels}`, which may be empty only where a fallback stands in. */
export function labelSchema(labels: readonly Label[], options: LabelOptions = {}): JsonSchema {
  const label = { type: "string", enum: labels.map(({ name }) => name) };
  if (options.multi !== true) return record("label", label);
  return record("labels", {
    type: "array",
    items: label,
    uniqueItems: true,
    ...(options.fallbackLabel === undefined && { minItems: 1 }),
  });
}

function record(name: string, schema: JsonSchema): JsonSchema {
  return {
    type: "object",
    properties: { [name]: schema },
    required: [name],
    additionalProperties: false,
  };
}

/** The labels of an answer that fits `labelSchema`; the fallback where it names none. */
export function chosenLabels(
  answer: Json,
  options: LabelOptions = {},
): { readonly labels: readonly string[]; readonly isFallback: boolean } {
  const { label, labels } = answer as JsonObject;
  const named = (options.multi === true ? labels : [label]) as readonly string[];
  const { fallbackLabel } = options;
  if (named.length > 0 || fallbackLabel === undefined) return { labels: named, isFallback: false };
  return { labels: [fallbackLabel], isFallback: true };
}

/** Mistakes in a list of labels that its JSON Schema cannot express: `/i/name` and a sentence. */
export function labelProblems(
  labels: readonly Label[],
): readonly { readonly pointer: string; readonly message: string }[] {
  const seen = new Set<string>();
  return labels.flatMap(({ name }, i) => {
    const isTwice = seen.has(name);
    seen.add(name);
    if (!isTwice && !TAKEN.has(name)) return [];
    const what = isTwice ? "is there twice" : "is a port that every ai node has; choose another";
    return [{ pointer: `/${i}/name`, message: `the label ${JSON.stringify(name)} ${what}` }];
  });
}
