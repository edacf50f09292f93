/** How a flow names a model and says how it chooses its words, as JSON Schema: for a node, what it falls back to, and judges. */
import type { JsonSchema } from "@millrace/contracts";

const NAME = "^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$"; // of a provider
const CREDENTIAL = "^(?:service:)?[a-z0-9][a-z0-9._-]{0,63}$";
const MODEL = "^[^\\x00-\\x1f\\x7f]+$"; // no control characters

/** Never an address: those are the operator's. */
export const provider: JsonSchema = { type: "string", pattern: NAME, maxLength: 64 };

export const modelId: JsonSchema = {
  type: "string",
  pattern: MODEL,
  minLength: 1,
  maxLength: 200,
};

/** A reference into the credential store; never a variable. */
export const credential: JsonSchema = { type: "string", pattern: CREDENTIAL };

/** How a model chooses its words; a target to fall back to may replace them. */
export const sampling: { readonly [name: string]: JsonSchema } = {
  temperature: { type: "number", minimum: 0, maximum: 2 },
  topP: { type: "number", exclusiveMinimum: 0, maximum: 1 },
  topK: { type: "integer", minimum: 1, maximum: 1_000 },
  maxTokens: { type: "integer", minimum: 1, maximum: 1_000_000 },
  seed: { type: "integer", minimum: 0, maximum: 2_147_483_647 },
  stop: {
    type: "array",
    items: { type: "string", minLength: 1, maxLength: 64 },
    minItems: 1,
    maxItems: 4,
  },
  frequencyPenalty: { type: "number", minimum: -2, maximum: 2 },
  presencePenalty: { type: "number", minimum: -2, maximum: 2 },
  reasoning: { enum: ["none", "low", "medium", "high"] },
};
