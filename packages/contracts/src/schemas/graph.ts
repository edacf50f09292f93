/**
 * The wire form of a flow. Strict: a member that nobody knows is a mistake. Lists and objects that are empty may be left
 * out. What the members mean together is for validation to say, as diagnostics.
 */
import * as z from "zod";
import type {
  FieldValue,
  FlowBody,
  FlowConnection,
  FlowEdge,
  FlowGraph,
  FlowInput,
  FlowNode,
  FlowOutput,
  FlowPolicy,
  FlowSchedule,
  Policy,
  RetryPolicy,
} from "../graph.ts";
import { jsonObjectSchema, jsonRecordSchema, jsonValueSchema } from "./common.ts";

const value: z.ZodType<FieldValue> = jsonValueSchema;
const count = z.int().min(0);
const text = z.string();

/** Schema of `FlowPolicy`. */
export const flowPolicySchema: z.ZodType<FlowPolicy> = z.strictObject({
  timeoutMs: count.exactOptional(),
  onFailure: z.enum(["stop", "finish"]).exactOptional(),
  concurrency: count.exactOptional(),
});

/** Schema of `FlowInput`. */
export const flowInputSchema: z.ZodType<FlowInput> = z.strictObject({
  name: text,
  schema: jsonObjectSchema.exactOptional(),
  default: value.exactOptional(),
  description: text.exactOptional(),
});

/** Schema of `FlowOutput`. */
export const flowOutputSchema: z.ZodType<FlowOutput> = z.strictObject({
  name: text,
  schema: jsonObjectSchema.exactOptional(),
  value,
  description: text.exactOptional(),
});

const retry: z.ZodType<RetryPolicy> = z.strictObject({
  max: count.exactOptional(),
  backoff: z.enum(["constant", "linear", "exponential"]).exactOptional(),
  delayMs: count.exactOptional(),
  maxDelayMs: count.exactOptional(),
  jitter: z.boolean().exactOptional(),
  on: z.array(text).exactOptional(),
  if: value.exactOptional(),
});

/** Schema of `Policy`. */
export const policySchema: z.ZodType<Policy> = z.strictObject({
  timeoutMs: count.exactOptional(),
  retry: retry.exactOptional(),
  when: value.exactOptional(),
  onError: z
    .union([z.enum(["fail", "port", "collect"]), z.strictObject({ default: value })])
    .exactOptional(),
  join: z.union([z.enum(["all", "any"]), count]).exactOptional(),
  concurrency: z.union([count, z.strictObject({ max: count, key: value })]).exactOptional(),
  idempotencyKey: value.exactOptional(),
  cache: z.strictObject({ ttlMs: count, key: value.exactOptional() }).exactOptional(),
  delivery: z.enum(["atLeastOnce", "atMostOnce"]).exactOptional(),
});

/** Schema of `FlowEdge`. */
export const flowEdgeSchema: z.ZodType<FlowEdge> = z.strictObject({
  from: text,
  port: text.default("out"),
  to: text,
  meta: jsonObjectSchema.exactOptional(),
});

/** Schema of `FlowNode`. */
export const flowNodeSchema: z.ZodType<FlowNode> = z.strictObject({
  id: text,
  type: text,
  typeVersion: z.int().min(1).exactOptional(),
  fields: jsonRecordSchema.default({}),
  policy: policySchema.exactOptional(),
  body: z.lazy(() => flowBodySchema).exactOptional(),
});

/** Schema of `FlowBody`. */
export const flowBodySchema: z.ZodType<FlowBody> = z.strictObject({
  nodes: z.array(flowNodeSchema),
  edges: z.array(flowEdgeSchema).default([]),
  output: value.exactOptional(),
});

/** Schema of `FlowConnection`. */
export const flowConnectionSchema: z.ZodType<FlowConnection> = z.strictObject({
  name: text,
  auth: text,
  service: text.exactOptional(),
  slug: text.exactOptional(),
  scopes: z.array(text).exactOptional(),
});

/** Schema of `FlowSchedule`. */
export const flowScheduleSchema: z.ZodType<FlowSchedule> = z.strictObject({
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

const graph: z.ZodType<FlowGraph> = z.strictObject({
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
  layout: jsonObjectSchema.default({}),
});

/** A flow as JSON. */
export const flowGraphSchema = graph as z.ZodType<FlowGraph, FlowGraph>;
