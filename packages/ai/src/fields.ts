/** The evaluated fields of an `ai` node, of one type each (absent ones have their defaults), and how a flow names a model, as JSON Schema. */
import type { AiProviderOptions, Json, JsonObject, JsonSchema } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import type { DeferredField, Fields } from "@millrace/engine";
import type { Label } from "./labels.ts";
import type { Task } from "./presets.ts";

export type AuditLevel = "none" | "hash" | "redacted" | "full";

/** Reasoning effort in the words of the platform. */
export type Reasoning = "none" | "low" | "medium" | "high";

/** Sampling parameters; a target may replace them. */
export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly maxTokens?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly reasoning?: Reasoning;
}

export interface TargetField {
  readonly provider: string;
  readonly modelId: string;
  readonly credential?: string;
  readonly params?: Sampling;
  readonly on?: readonly string[];
}

/** A tool as a node names it, but for `confirm` where it is an expression. */
export interface ToolField {
  readonly ref: string;
  readonly name?: string;
  readonly description?: string;
  readonly confirm?: boolean;
  readonly timeoutMs?: number;
  readonly with?: { readonly [name: string]: unknown };
}

/** Fields of an `ai` node, evaluated and checked. @see the page on AI, "Fields" */
export interface AiFields extends Sampling {
  readonly provider?: string;
  readonly modelId?: string;
  readonly credential?: string;
  readonly task?: Task;
  readonly input: unknown;
  readonly system?: string;
  readonly rubric?: string;
  readonly maxWords?: number;
  readonly providerOptions?: AiProviderOptions;
  readonly strictParams: boolean;
  readonly tools: readonly (string | ToolField)[];
  readonly toolChoice: "auto" | "required" | "none";
  readonly maxSteps: number;
  readonly onMaxSteps: "fail" | "return";
  readonly parallelTools: number;
  readonly maxToolBytes: number;
  readonly labels?: readonly Label[];
  readonly multi: boolean;
  readonly fallbackLabel?: string;
  readonly outputSchema?: JsonSchema;
  readonly repairMax: number;
  readonly expect?: DeferredField;
  readonly expectRetries: number;
  readonly auditContent: AuditLevel;
  readonly failover: readonly TargetField[];
  readonly failoverOn: readonly string[];
  readonly failoverRetries: number;
  readonly failoverDelayMs: number;
  readonly failoverMaxWaitMs: number;
  readonly firstTokenMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
  readonly circuit: boolean;
  readonly maxOutputBytes: number;
  readonly maxCostUsd?: number;
  /** Deferred `confirm` of the tools, by their place. */
  readonly "tools.confirm"?: DeferredField;
}

/** The fields of a node. A `null` counts as absent: that is what an optional expression gives. */
export function readFields(fields: Fields): AiFields {
  const all = Object.entries(fields);
  const given = all.filter(([, value]) => value !== null && value !== undefined);
  const read = given.length === all.length ? fields : Object.fromEntries(given);
  return read as unknown as AiFields;
}

/** Fields whose text goes to a model. */
const PROMPTS = ["input", "system", "rubric"] as const;

/**
 * The fields of a node with `mark` in the place of what a history is not to show, because its `auditContent` is not `full` or
 * nothing is kept: prompts, and what is given to a tool beside the model. Those of a node of another type as they are.
 */
export function withoutPrompts(
  type: string,
  fields: JsonObject,
  { mark, keepsContent }: { readonly mark: string; readonly keepsContent: boolean },
): JsonObject {
  if (type !== "ai" || (keepsContent && fields["auditContent"] === "full")) return fields;
  const shown: { [name: string]: Json | undefined } = { ...fields };
  for (const name of PROMPTS) if (Object.hasOwn(shown, name)) shown[name] = mark;
  const { tools } = fields;
  if (Array.isArray(tools)) {
    shown["tools"] = tools.map((tool) =>
      isObject(tool) && Object.hasOwn(tool, "with") ? { ...tool, with: mark } : tool,
    );
  }
  return shown;
}

/** The task of a node: what it says, else what its fields mean. */
export function taskOf({ task, labels }: Pick<AiFields, "task" | "labels">): Task {
  return task ?? (labels === undefined ? "generate" : "classify");
}

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
  temperature: {
    type: "number",
    minimum: 0,
    maximum: 2,
    description: "How much chance is in the choice of words: 0 takes the likeliest.",
  },
  topP: {
    type: "number",
    exclusiveMinimum: 0,
    maximum: 1,
    description: "Words are chosen among the likeliest that together have this probability.",
  },
  topK: {
    type: "integer",
    minimum: 1,
    maximum: 1_000,
    description: "Words are chosen among this many of the likeliest.",
  },
  maxTokens: {
    type: "integer",
    minimum: 1,
    maximum: 1_000_000,
    description: "Most tokens of an answer; default what the model allows, at most 4,096.",
  },
  seed: {
    type: "integer",
    minimum: 0,
    maximum: 2_147_483_647,
    description: "Start of the chance, so that a model that takes it answers alike again.",
  },
  stop: {
    type: "array",
    items: { type: "string", minLength: 1, maxLength: 64 },
    minItems: 1,
    maxItems: 4,
    description: "Texts before which the answer ends.",
  },
  frequencyPenalty: {
    type: "number",
    minimum: -2,
    maximum: 2,
    description: "Makes a word less likely each time that it was used; below 0 likelier.",
  },
  presencePenalty: {
    type: "number",
    minimum: -2,
    maximum: 2,
    description: "Makes a word less likely once it was used; below 0 likelier.",
  },
  reasoning: {
    enum: ["none", "low", "medium", "high"],
    description: "How much a model thinks before it answers.",
  },
};

/** Names of the sampling fields, as fields, targets and capabilities have them. */
export const SAMPLING: readonly (keyof Sampling)[] = Object.keys(sampling) as (keyof Sampling)[];

/** A model to call, with further members. */
export function targetSchema(more: { readonly [name: string]: JsonSchema } = {}): JsonSchema {
  return {
    type: "object",
    properties: {
      provider,
      modelId,
      credential,
      params: { type: "object", properties: sampling, additionalProperties: false },
      ...more,
    },
    required: ["provider", "modelId"],
    additionalProperties: false,
  };
}
