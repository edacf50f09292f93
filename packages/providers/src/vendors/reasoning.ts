/** The field `reasoning` for models of specification v3, which have no option of that name: as options of their provider. */
import type { AiProviderOptions } from "@millrace/contracts";
import { thinkingOf, type Vendor } from "./models.ts";

type Level = "none" | "low" | "medium" | "high";

/** Tokens to think with, for models that want a number. The least that Anthropic takes is 1024. */
const BUDGET: { readonly [level in Level]: number } = {
  none: 0,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
};

/** Provider options for `level`; empty where the vendor has none, and for a level that is none of the four. */
export function reasoningOptions(
  vendor: Vendor,
  modelId: string,
  level: string | undefined,
): AiProviderOptions {
  if (!isLevel(level)) return {};
  switch (vendor) {
    case "openai-responses":
    case "openai-chat":
      // A model that does not reason takes no effort; the package warns, and so does the node.
      return { openai: { reasoningEffort: level } };
    case "compatible":
      return { openaiCompatible: { reasoningEffort: level } };
    case "anthropic":
      return { anthropic: claude(level, thinkingOf(vendor, modelId)) };
    case "google":
      return { google: { thinkingConfig: gemini(level, thinkingOf(vendor, modelId)) } };
  }
}

function claude(level: Level, how: string | undefined): { readonly [name: string]: unknown } {
  if (level === "none") return { thinking: { type: "disabled" } };
  return how === "budget"
    ? { thinking: { type: "enabled", budgetTokens: BUDGET[level] } }
    : { thinking: { type: "adaptive" }, effort: level };
}

function gemini(level: Level, how: string | undefined): { readonly [name: string]: unknown } {
  // A model of levels cannot be told not to think at all.
  if (how === "level") return { thinkingLevel: level === "none" ? "minimal" : level };
  return { thinkingBudget: BUDGET[level] };
}

function isLevel(level: string | undefined): level is Level {
  return level !== undefined && Object.hasOwn(BUDGET, level);
}
