/** `ai`: asks a model, with tools, schemas, labels, checks and models to fall back to. What it does is in `loop.ts`. */
import type {
  CatalogEntry,
  FieldFinding,
  FlowNode,
  Json,
  JsonObject,
  JsonSchema,
} from "@millrace/contracts";
import type { Fields, NodePack, NodeType } from "@millrace/engine";
import { coreEntry, toolRefs } from "@millrace/engine/pack";
import { expectItem, expectProblems } from "./expect-entry.ts";
import { credential, modelId, provider, sampling, targetSchema } from "./fields.ts";
import { type Label, labelProblems } from "./labels.ts";
import { runAi } from "./loop.ts";
import { toolNames } from "./tool-names.ts";

const REASONS =
  "rate_limit quota server timeout network stream_cut not_found context_length content_filter auth bad_request output_schema expect".split(
    " ",
  );

const literal = { "x-millrace": { literal: true } } as const;

/** A field that no expression may give. */
const fixed = (schema: JsonSchema, description?: string): JsonSchema => ({
  ...schema,
  ...literal,
  ...(description !== undefined && { description }),
});

const oneOf = (words: string, byDefault?: string): JsonSchema => ({
  enum: words.split(" "),
  ...(byDefault !== undefined && { default: byDefault }),
});

const flag = (byDefault: boolean): JsonSchema => ({ type: "boolean", default: byDefault });

const reasons: JsonSchema = { type: "array", items: { enum: REASONS }, uniqueItems: true };

const count = (minimum: number, maximum: number, byDefault?: number): JsonSchema => ({
  type: "integer",
  minimum,
  maximum,
  ...(byDefault !== undefined && { default: byDefault }),
});

const MAX_MS = 3_600_000;

const tool: JsonSchema = {
  anyOf: [
    { type: "string", minLength: 1 },
    {
      type: "object",
      properties: {
        ref: { type: "string", minLength: 1, ...literal },
        name: { type: "string", minLength: 1, ...literal },
        description: { type: "string", maxLength: 1_024 },
        confirm: { type: "boolean", "x-millrace": { deferred: ["args"] } },
        timeoutMs: count(1, MAX_MS),
        with: { type: "object" },
      },
      required: ["ref"],
      additionalProperties: false,
    },
  ],
};

const label: JsonSchema = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 64 },
    description: { type: "string" },
  },
  required: ["name"],
  additionalProperties: false,
};

const properties: { readonly [name: string]: JsonSchema } = {
  provider: { ...provider, description: "Id of a provider; default the operator's." },
  modelId: { ...modelId, description: "Model of the provider; default the operator's." },
  credential: fixed(
    credential,
    "Name of a key of the operator, or service:<slug>; default that of the provider.",
  ),
  task: fixed(
    oneOf("generate chat classify extract summarize embed judge"),
    "What the model is asked to do; default classify with labels, else generate.",
  ),
  input: { description: "Text or data, or { messages: [...] }, or { parts: [...] }." },
  system: { type: "string", description: "What the model is told before everything else." },
  rubric: { type: "string", minLength: 1, description: "By what a judge grades." },
  maxWords: { ...count(1, 10_000), description: "Length of a summary." },
  ...sampling,
  providerOptions: {
    type: "object",
    additionalProperties: { type: "object" },
    description: "Options by provider id, passed through; at most 16 KiB.",
  },
  strictParams: fixed(
    flag(false),
    "A parameter that the model does not take fails the call instead of a warning.",
  ),
  tools: {
    type: "array",
    items: tool,
    maxItems: 64,
    default: [],
    description: "flow:<slug>, action:<adapter>.<action> or mcp:<server>/<tool>, or { ref, … }.",
  },
  toolChoice: fixed(
    oneOf("auto required none", "auto"),
    "Whether the first call may, must or must not use a tool.",
  ),
  maxSteps: fixed(count(1, 50, 8), "Calls of the model while it asks for tools."),
  onMaxSteps: fixed(
    oneOf("fail return", "fail"),
    "After maxSteps calls the node fails, or returns what it has.",
  ),
  parallelTools: fixed(count(1, 16, 4), "Tools that run at the same time."),
  maxToolBytes: fixed(
    count(1_024, 1_048_576, 65_536),
    "Bytes of a tool's result that the model gets.",
  ),
  labels: fixed(
    { type: "array", minItems: 2, maxItems: 64, items: label },
    "What the input may be; each label is a port.",
  ),
  multi: fixed(flag(false), "Several labels may be chosen."),
  fallbackLabel: fixed({ type: "string" }, "Chosen when no answer names a label."),
  outputSchema: fixed({ type: "object" }, "JSON Schema of the answer."),
  repairMax: fixed(count(0, 3, 2), "Times that the model may correct its answer."),
  expect: {
    type: "array",
    items: expectItem,
    maxItems: 32,
    "x-millrace": {
      deferred: ["output", "text", "label", "labels", "usage", "costUsd", "latencyMs", "finish"],
    },
    description: "Conditions and checks of the answer.",
  },
  expectRetries: fixed(
    count(0, 3, 1),
    "More tries for an answer that does not meet what is expected.",
  ),
  auditContent: fixed(
    oneOf("none hash redacted full", "hash"),
    "What the history keeps of prompts, tool arguments and results.",
  ),
  failover: {
    type: "array",
    items: targetSchema({ on: reasons }),
    maxItems: 8,
    default: [],
    description: "Models to fall back to, in order.",
  },
  failoverOn: fixed(
    { ...reasons, default: REASONS.slice(0, 7) },
    "Failures after which the next model is asked.",
  ),
  failoverRetries: fixed(count(0, 5, 1), "More tries of one model before the next."),
  failoverDelayMs: fixed(
    count(0, 60_000, 250),
    "Milliseconds before the second try of a model, at most; twice that before each later one.",
  ),
  failoverMaxWaitMs: fixed(
    count(0, 600_000, 10_000),
    "Longest wait before a try, in milliseconds; a provider that asks for more is left.",
  ),
  firstTokenMs: fixed(
    count(100, MAX_MS, 60_000),
    "Milliseconds until the first part of an answer.",
  ),
  idleMs: fixed(count(100, MAX_MS, 30_000), "Milliseconds between two parts of an answer."),
  totalMs: fixed(
    count(100, MAX_MS, 300_000),
    "For all calls, tools and pauses; it stands still while a person is asked.",
  ),
  circuit: fixed(flag(true), "Leave models alone that keep failing."),
  maxOutputBytes: fixed(count(1_024, 16_777_216, 1_048_576), "Largest answer in bytes."),
  maxCostUsd: fixed({ type: "number", exclusiveMinimum: 0 }, "Looked at before each call."),
};

const text: JsonSchema = { type: "string" };
const integer: JsonSchema = { type: "integer" };

const results: { readonly [name: string]: JsonSchema } = {
  output: {
    description: "Text, data that fits the schema, label, labels, vectors, or score and reason.",
    "x-millrace": { untrusted: true, aliases: ["json", "data", "object", "result", "value"] },
  },
  text: {
    ...text,
    description: "Text of the last accepted answer.",
    "x-millrace": { untrusted: true, aliases: ["content", "message", "answer", "response"] },
  },
  label: { ...text, description: "With labels." },
  labels: { type: "array", items: text, description: "With labels and multi." },
  finish: { enum: ["stop", "length", "content_filter", "max_steps"] },
  provider: { ...text, description: "Who answered." },
  modelId: text,
  usage: {
    type: ["object", "null"],
    properties: {
      inputTokens: integer,
      outputTokens: integer,
      cachedInputTokens: integer,
      cacheWriteTokens: integer,
      reasoningTokens: integer,
    },
    additionalProperties: false,
    description: "Of all calls; null when nobody said.",
  },
  costUsd: { type: ["number", "null"] },
  steps: integer,
  toolCalls: { type: "array", items: { type: "object" } },
};

const output: JsonSchema = {
  type: "object",
  properties: results,
  required: Object.keys(results),
  additionalProperties: false,
};

const entry: CatalogEntry = Object.freeze({
  ...coreEntry({
    type: "ai",
    title: "AI",
    summary:
      "Asks a model: text, data by a schema, labels as ports, vectors; with tools and checks.",
    category: "data",
    properties,
    required: ["input"],
    output,
    portsFrom: "labels",
    effect: "write",
    example: {
      title: "Sort a message",
      fields: {
        provider: "mock",
        modelId: "echo",
        input: { $: "inputs.message" },
        labels: [{ name: "bug" }, { name: "billing" }],
        fallbackLabel: "bug",
      },
    },
  }),
  kind: "ai",
  category: "ai",
  tags: ["model", "llm", "classify", "extract", "summarize", "agent", "tools"],
});

const ai: NodeType = {
  core: true,
  slots: 16, // calls at once that the other side of a wire bears well
  entry,
  check,
  furtherPorts(record) {
    const { label, labels } = (record ?? {}) as { label?: Json; labels?: Json };
    if (typeof label === "string") return [label];
    return Array.isArray(labels) ? labels.filter((name) => typeof name === "string") : [];
  },
  run: runAi,
};

/** Node types for `createRegistry([aiPack()])`. What they ask is `aiSettings` of `createEngine`. */
export function aiPack(): NodePack {
  return [ai];
}

const MAX_OPTIONS_UNITS = 16_384; // of providerOptions, as JSON

/** Problems in the fields of a node that its schema cannot express. */
function check(fields: Fields, source: FlowNode["fields"]): readonly FieldFinding[] {
  const found: FieldFinding[] = [];
  const say = (pointer: string, message: string): void => {
    found.push({ pointer, code: "FLOW3015", message, severity: "error" });
  };
  const { labels, providerOptions } = fields as {
    labels?: readonly Label[];
    providerOptions?: JsonObject;
  };
  if (Array.isArray(labels) && labels.every((label) => typeof label?.name === "string")) {
    for (const { pointer, message } of labelProblems(labels)) say(`/labels${pointer}`, message);
  }
  const refs = toolRefs({ id: "ai", type: "ai", fields: source });
  const named = refs.map(({ ref, at }) => ({ ref, ...nameAt(source, at) }));
  for (const { index, message } of toolNames(named).clashes) {
    say(`/tools/${refs[index]?.at ?? index}`, message);
  }
  const { expect } = source;
  if (expect !== undefined) {
    for (const { pointer, message } of expectProblems(expect)) say(`/expect${pointer}`, message);
  }
  if (JSON.stringify(providerOptions ?? null).length > MAX_OPTIONS_UNITS) {
    say("/providerOptions", `more than ${MAX_OPTIONS_UNITS} characters`);
  }
  return found;
}

function nameAt(source: FlowNode["fields"], at: number): { name?: string } {
  const tools = source["tools"] as readonly unknown[] | undefined;
  const name = (tools?.[at] as { name?: unknown } | null | undefined)?.name;
  return typeof name === "string" ? { name } : {};
}
