/** The evaluated fields of an `ai` node, of one type each; absent ones have their defaults. */
import type { AiProviderOptions, JsonSchema } from "@millrace/contracts";
import type { DeferredField, Fields } from "@millrace/engine";
import type { AuditLevel } from "./audit.ts";
import type { Label } from "./labels.ts";
import type { Task } from "./presets.ts";

/** Reasoning effort in the words of the platform. */
export type Reasoning = "none" | "low" | "medium" | "high";

/** What a target may replace: how a model chooses its words. */
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

/** Names of the sampling fields, as fields, targets and capabilities have them. */
export const SAMPLING: readonly (keyof Sampling)[] = [
  "temperature",
  "topP",
  "topK",
  "maxTokens",
  "seed",
  "stop",
  "frequencyPenalty",
  "presencePenalty",
  "reasoning",
];

/** A model to fall back to. */
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
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given) as unknown as AiFields;
}

/** The task of a node: what it says, else what its fields mean. */
export function taskOf({ task, labels }: Pick<AiFields, "task" | "labels">): Task {
  return task ?? (labels === undefined ? "generate" : "classify");
}
