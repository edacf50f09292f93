/** Token counts as providers tell them, and what they cost. A count that is not known is absent, never 0. */
import type { PricePerMillion, Usage } from "@millrace/contracts";

const NAMES = [
  "inputTokens",
  "outputTokens",
  "cachedInputTokens",
  "cacheWriteTokens",
  "reasoningTokens",
] as const;

/** Flat counts of a `finish` part: numbers, or `{ total, cacheRead, … }` each. Undefined: input or output is not known. */
export function readUsage(given: unknown): Usage | undefined {
  const usage = record(given);
  const input = record(usage["inputTokens"]);
  const output = record(usage["outputTokens"]);
  const inputTokens = count(usage["inputTokens"]) ?? count(input["total"]);
  const outputTokens = count(usage["outputTokens"]) ?? count(output["total"]);
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const cached = count(usage["cachedInputTokens"]) ?? count(input["cacheRead"]);
  const written = count(usage["cacheWriteTokens"]) ?? count(input["cacheWrite"]);
  const reasoning = count(usage["reasoningTokens"]) ?? count(output["reasoning"]);
  return {
    inputTokens,
    outputTokens,
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(written !== undefined && { cacheWriteTokens: written }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  };
}

function record(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null ? (value as { [name: string]: unknown }) : {};
}

function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

/** The sum of known counts; null when nothing is known. */
export function addUsage(sum: Usage | null, usage: Usage | null | undefined): Usage | null {
  if (usage === undefined || usage === null) return sum;
  if (sum === null) return usage;
  const total: { [name: string]: number } = {};
  for (const name of NAMES) {
    const [a, b] = [sum[name], usage[name]];
    if (a !== undefined || b !== undefined) total[name] = (a ?? 0) + (b ?? 0);
  }
  return total as unknown as Usage;
}

const MILLION = 1_000_000;

/** US dollars of a call; null: price or counts are not known. Cached input and writes count as input where they have no price. */
export function costOf(
  usage: Usage | undefined,
  price: PricePerMillion | undefined,
): number | null {
  if (usage === undefined || price === undefined) return null;
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  const cached = Math.min(cachedInputTokens, inputTokens);
  const written = Math.min(cacheWriteTokens, inputTokens - cached);
  const plain = inputTokens - cached - written;
  const sum =
    plain * price.input +
    cached * (price.cachedInput ?? price.input) +
    written * (price.cacheWrite ?? price.input) +
    outputTokens * price.output;
  const cost = sum / MILLION;
  return Number.isFinite(cost) && cost >= 0 ? cost : null;
}
