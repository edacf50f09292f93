/** Settings of `ai` nodes, checked before anything begins. */
import { must } from "@millrace/contracts/shape";
import type { Setting } from "@millrace/engine";
import {
  COUNT,
  checkOptions,
  has,
  isText,
  MILLISECONDS,
  optionsOf,
  RECORD,
  TEXT,
} from "@millrace/engine/pack";
import type { AiOptions, CircuitOptions } from "./options.ts";
import { AI } from "./runtime.ts";

const MIN_KEY_BYTES = 32; // length of an HMAC-SHA-256 key

const CIRCUIT = optionsOf<CircuitOptions>({
  failures: COUNT,
  windowMs: MILLISECONDS,
  coolDownMs: MILLISECONDS,
});

const OPTIONS = optionsOf<AiOptions>({
  providers: must(
    (value) =>
      Array.isArray(value) &&
      value.every((one) => has("capabilities", "languageModel")(one) && isText(one.id)) &&
      new Set(value.map(({ id }) => id)).size === value.length,
    "a list of providers, each with another id, capabilities and languageModel",
  ),
  defaultProvider: TEXT,
  defaultModels: RECORD,
  credentials: must(has("resolve"), "a port with resolve"),
  tools: must(has("list", "call"), "a port with list and call"),
  origins: must(
    (value) =>
      Array.isArray(value) &&
      value.every((each) => isText(each) && /^https?:\/\/[^/]+$/.test(each)),
    "a list of origins such as http://127.0.0.1:8080",
  ),
  circuit: CIRCUIT,
  prices: RECORD,
  hmacKey: must(
    (value) => value instanceof Uint8Array && value.length >= MIN_KEY_BYTES,
    `at least ${MIN_KEY_BYTES} bytes`,
  ),
});

/**
 * Settings of `ai` nodes for `createEngine({ settings: [aiSettings({ providers })] })`. Throws `EngineError` `input_invalid` for an option
 * that is not what it must be.
 */
export function aiSettings(options: AiOptions): Setting {
  checkOptions(options, OPTIONS);
  return AI.with(options);
}
