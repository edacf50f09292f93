/**
 * The wire form of a flow. A string is always literal; an expression is `{"$": "source"}`, a template is
 * `{"$t": ["text", {"$": "source"}]}`, and data that looks like either is wrapped as `{"$lit": …}`.
 * Strict: a member that nobody knows is a mistake. Lists and objects that are empty may be left out. What the members mean together
 * is for validation to say, as diagnostics.
 */
import * as z from "zod";
import type { Json } from "../json.ts";
import {
  type Infer,
  jsonObjectSchema,
  jsonRecordSchema,
  jsonValueSchema,
  notifiedSchema,
} from "./common.ts";

/** A value in a graph: JSON in which `{"$"}`, `{"$t"}` and `{"$lit"}` objects have meaning, at any depth. */
export type FieldValue = Json;

const value = jsonValueSchema;
const count = z.int().min(0);
const text = z.string();

/** Schema of `FlowPolicy`. */
export const flowPolicySchema = z.strictObject({
  timeoutMs: count.exactOptional(),
  onFailure: z.enum(["stop", "finish"]).exactOptional(),
  concurrency: count.exactOptional(),
  notify: notifiedSchema.exactOptional(),
});

/** Policy of a whole run. `onFailure` defaults to `stop`; `notify`: a template or a URL that is told when it has failed. */
export interface FlowPolicy extends Infer<typeof flowPolicySchema> {}

/** Schema of `FlowInput`. */
export const flowInputSchema = z.strictObject({
  name: text,
  schema: jsonObjectSchema.exactOptional(),
  default: value.exactOptional(),
  description: text.exactOptional(),
});

/** An input. Without `default` it is required; `default: null` is a default. */
export interface FlowInput extends Infer<typeof flowInputSchema> {}

/** Schema of `FlowOutput`. */
export const flowOutputSchema = z.strictObject({
  name: text,
  schema: jsonObjectSchema.exactOptional(),
  value,
  description: text.exactOptional(),
});

/** An output, evaluated when what it reads is resolved; absent when a required node of it did not run. */
export interface FlowOutput extends Infer<typeof flowOutputSchema> {}

const retry = z.strictObject({
  max: count.exactOptional(),
  backoff: z.enum(["constant", "linear", "exponential"]).exactOptional(),
  delayMs: count.exactOptional(),
  maxDelayMs: count.exactOptional(),
  jitter: z.boolean().exactOptional(),
  /** Reasons or codes; absent: every error that says it is retryable. */
  on: z.array(text).exactOptional(),
  /** Deferred; reads `output`. True makes a success a failed attempt. */
  if: value.exactOptional(),
});

/** Repeats a failed attempt. `max` counts retries after the first attempt. */
export interface RetryPolicy extends Infer<typeof retry> {}

const onError = z.union([z.enum(["fail", "port", "collect"]), z.strictObject({ default: value })]);

/** Where a failure goes: it ends the flow, leaves by `error`, is replaced, or (map only) is collected. */
export type OnError = Infer<typeof onError>;

/** Schema of `Policy`. */
export const policySchema = z.strictObject({
  timeoutMs: count.exactOptional(),
  retry: retry.exactOptional(),
  when: value.exactOptional(),
  onError: onError.exactOptional(),
  join: z.union([z.enum(["all", "any"]), count]).exactOptional(),
  concurrency: z.union([count, z.strictObject({ max: count, key: value })]).exactOptional(),
  idempotencyKey: value.exactOptional(),
  cache: z.strictObject({ ttlMs: count, key: value.exactOptional() }).exactOptional(),
  delivery: z.enum(["atLeastOnce", "atMostOnce"]).exactOptional(),
});

/** The platform's policies; the same for every node type. */
export interface Policy extends Infer<typeof policySchema> {}

/** Schema of `FlowEdge`. */
export const flowEdgeSchema = z.strictObject({
  from: text,
  port: text.default("out"),
  to: text,
  meta: jsonObjectSchema.exactOptional(),
});

/** Control order from a port of one node to another node. */
export interface FlowEdge extends Infer<typeof flowEdgeSchema> {}

const nodeMembers = {
  id: text,
  type: text,
  typeVersion: z.int().min(1).exactOptional(),
  fields: jsonRecordSchema.default({}),
  policy: policySchema.exactOptional(),
};

/** One step. `fields` belong to the type, `policy` to the platform. */
export interface FlowNode extends Infer<z.ZodObject<typeof nodeMembers>> {
  readonly body?: FlowBody;
}

/** The inside of a `map` or `loop`; ids are local to it. */
export interface FlowBody {
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  readonly output?: FieldValue;
}

/** Schema of `FlowNode`. */
export const flowNodeSchema: z.ZodType<FlowNode> = z.strictObject({
  ...nodeMembers,
  body: z.lazy(() => flowBodySchema).exactOptional(),
});

/** Schema of `FlowBody`. */
export const flowBodySchema: z.ZodType<FlowBody> = z.strictObject({
  nodes: z.array(flowNodeSchema),
  edges: z.array(flowEdgeSchema).default([]),
  output: value.exactOptional(),
});

/** Schema of `FlowConnection`. */
export const flowConnectionSchema = z.strictObject({
  name: text,
  auth: text,
  service: text.exactOptional(),
  slug: text.exactOptional(),
  scopes: z.array(text).exactOptional(),
});

/** A declared service connection; nodes name it by `name`. `slug` defaults to the name. */
export interface FlowConnection extends Infer<typeof flowConnectionSchema> {}

/** Schema of `FlowSchedule`. */
export const flowScheduleSchema = z.strictObject({
  name: text,
  cron: text.exactOptional(),
  everyMs: count.exactOptional(),
  at: text.exactOptional(),
  timezone: text.exactOptional(),
  inputs: jsonObjectSchema.exactOptional(),
  enabled: z.boolean().exactOptional(),
  overlap: z.enum(["skip", "queue", "allow"]).exactOptional(),
  catchUp: z.enum(["skip", "one", "all"]).exactOptional(),
});

/** A proposed schedule; only `create_schedule` activates one. Exactly one of `cron`, `everyMs`, `at`. */
export interface FlowSchedule extends Infer<typeof flowScheduleSchema> {}

const graph = z.strictObject({
  version: z.literal(1),
  id: text,
  title: text.exactOptional(),
  meta: jsonObjectSchema.exactOptional(),
  policy: flowPolicySchema.exactOptional(),
  inputs: z.array(flowInputSchema).default([]),
  nodes: z.array(flowNodeSchema),
  edges: z.array(flowEdgeSchema).default([]),
  outputs: z.array(flowOutputSchema).default([]),
  connections: z.array(flowConnectionSchema).default([]),
  schedules: z.array(flowScheduleSchema).default([]),
  /** Node path to `[x, y]`; no meaning for a run. */
  layout: jsonObjectSchema.default({}),
});

/** A flow as JSON. `version` is the language version (1). Declaration order is meaningful only for printing. */
export interface FlowGraph extends Infer<typeof graph> {}

/** A flow as JSON. */
export const flowGraphSchema = graph as unknown as z.ZodType<FlowGraph, FlowGraph>;
