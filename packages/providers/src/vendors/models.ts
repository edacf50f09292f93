/**
 * Facts of models, as data. A model that is not listed has the capabilities of its vendor's current ones and no price:
 * an unknown price is better than a wrong one. The operator's own table (`ai.prices`) stands over these prices.
 * @see docs/decisions/0025-ai-sdk-provider-packages.md for where the figures come from and their date
 */
import type { AiCapabilities, PricePerMillion } from "@millrace/contracts";

/** A maker of models whose wire differs from the others'. */
export type Vendor = "openai-responses" | "openai-chat" | "anthropic" | "google" | "compatible";

/** Form of the reasoning option of a model: an effort, a number of tokens, or a level. */
export type Thinking = "effort" | "adaptive" | "budget" | "level";

interface ModelRow extends Partial<AiCapabilities> {
  /** Beginning of a model id; the first row that fits counts. */
  readonly id: RegExp;
  readonly thinking?: Thinking;
}

const COMMON = ["temperature", "topP", "maxTokens"];
const CHAT = [...COMMON, "seed", "stop", "frequencyPenalty", "presencePenalty"];

/** Abilities of a model that no row describes. `params` are names of node fields. */
const DEFAULTS: { readonly [vendor in Vendor]: AiCapabilities } = {
  "openai-responses": {
    tools: true,
    jsonSchema: true,
    params: COMMON,
    files: ["image/*", "application/pdf"],
  },
  "openai-chat": {
    tools: true,
    jsonSchema: true,
    params: CHAT,
    files: ["image/*", "application/pdf"],
  },
  anthropic: {
    tools: true,
    jsonSchema: false,
    params: ["maxTokens", "stop", "reasoning"],
    files: ["image/*", "application/pdf"],
  },
  google: {
    tools: true,
    jsonSchema: true,
    params: [...CHAT, "topK", "reasoning"],
    files: ["image/*", "application/pdf", "audio/*", "video/*"],
  },
  compatible: { tools: true, jsonSchema: false, params: [...CHAT, "reasoning"] },
};

const EMBEDS: Partial<AiCapabilities> = {
  embed: true,
  tools: false,
  jsonSchema: false,
  params: [],
  files: [],
};

/** OpenAI's reasoning models take no sampling parameters. */
const REASONS = { params: ["maxTokens", "reasoning"], thinking: "effort" } as const;
const SAMPLED_CLAUDE = ["temperature", "topP", "topK", "maxTokens", "stop", "reasoning"];

const OPENAI: readonly ModelRow[] = [
  { id: /^text-embedding-/, ...EMBEDS },
  { id: /^gpt-4o/, contextTokens: 128_000, maxOutputTokens: 16_384 },
  { id: /^gpt-4\.1/, contextTokens: 1_047_576, maxOutputTokens: 32_768 },
  { id: /^gpt-5(?:\.\d+)?-chat/, maxOutputTokens: 16_384 },
  { id: /^gpt-(?:[5-9]|\d\d)/, maxOutputTokens: 128_000, ...REASONS },
  { id: /^o\d/, contextTokens: 200_000, maxOutputTokens: 100_000, ...REASONS },
];

const MODELS: { readonly [vendor in Vendor]: readonly ModelRow[] } = {
  "openai-responses": OPENAI,
  "openai-chat": OPENAI,
  anthropic: [
    {
      id: /^claude-(?:3|(?:sonnet|opus)-4-(?:0|2))/,
      maxOutputTokens: 4_096,
      params: SAMPLED_CLAUDE,
      thinking: "budget",
    },
    {
      id: /^claude-opus-4-1/,
      jsonSchema: true,
      contextTokens: 200_000,
      maxOutputTokens: 32_000,
      params: SAMPLED_CLAUDE,
      thinking: "budget",
    },
    {
      id: /^claude-(?:sonnet|opus|haiku)-4-5/,
      jsonSchema: true,
      contextTokens: 200_000,
      maxOutputTokens: 64_000,
      params: SAMPLED_CLAUDE,
      thinking: "budget",
    },
    {
      id: /^claude-(?:sonnet|opus)-4-6/,
      jsonSchema: true,
      maxOutputTokens: 128_000,
      params: SAMPLED_CLAUDE,
      thinking: "adaptive",
    },
    { id: /^claude-/, jsonSchema: true, maxOutputTokens: 128_000, thinking: "adaptive" },
  ],
  google: [
    { id: /embedding/, ...EMBEDS },
    { id: /^gemini-[12](?:\.|-|$)/, contextTokens: 1_048_576, thinking: "budget" },
    { id: /^gemini-/, thinking: "level" },
  ],
  compatible: [{ id: /embed/, ...EMBEDS }],
};

/** US dollars for a million tokens. An id stands for its dated versions too, and for no other model. */
const PRICES: { readonly [modelId: string]: PricePerMillion } = {
  "gpt-4o": { input: 2.5, output: 10, cachedInput: 1.25 },
  "gpt-4o-mini": { input: 0.15, output: 0.6, cachedInput: 0.075 },
  "gpt-4.1": { input: 2, output: 8, cachedInput: 0.5 },
  "gpt-4.1-mini": { input: 0.4, output: 1.6, cachedInput: 0.1 },
  "gpt-4.1-nano": { input: 0.1, output: 0.4, cachedInput: 0.025 },
  "gpt-5": { input: 1.25, output: 10, cachedInput: 0.125 },
  "gpt-5-mini": { input: 0.25, output: 2, cachedInput: 0.025 },
  "gpt-5-nano": { input: 0.05, output: 0.4, cachedInput: 0.005 },
  o3: { input: 2, output: 8, cachedInput: 0.5 },
  "o4-mini": { input: 1.1, output: 4.4, cachedInput: 0.275 },
  "text-embedding-3-small": { input: 0.02, output: 0 },
  "text-embedding-3-large": { input: 0.13, output: 0 },
  "claude-opus-4-1": { input: 15, output: 75, cachedInput: 1.5, cacheWrite: 18.75 },
  "claude-opus-4-5": { input: 5, output: 25, cachedInput: 0.5, cacheWrite: 6.25 },
  "claude-sonnet-4-5": { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75 },
  "claude-haiku-4-5": { input: 1, output: 5, cachedInput: 0.1, cacheWrite: 1.25 },
};

const DATED = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/;

/** Capabilities of a model, as far as they are known. */
export function capabilitiesOf(vendor: Vendor, modelId: string): AiCapabilities {
  const { id: _, thinking: _how, ...known } = rowOf(vendor, modelId) ?? {};
  const price = vendor === "compatible" ? undefined : PRICES[modelId.replace(DATED, "")];
  return { ...DEFAULTS[vendor], ...known, ...(price && { price }) };
}

/** Form of the reasoning option; undefined for a model without one. */
export function thinkingOf(vendor: Vendor, modelId: string): Thinking | undefined {
  return rowOf(vendor, modelId)?.thinking;
}

function rowOf(vendor: Vendor, modelId: string): ModelRow | undefined {
  return MODELS[vendor].find(({ id }) => id.test(modelId));
}
