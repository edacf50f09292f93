/** Settings of `ai` nodes, checked before anything begins. */
import type { Setting } from "@millrace/engine";
import {
  checkRules,
  has,
  isCount,
  isText,
  MILLISECONDS,
  RECORD,
  type Rules,
  TEXT,
  type Test,
} from "@millrace/engine/pack";
import type { AiOptions, CircuitOptions } from "./options.ts";
import { AI } from "./runtime.ts";

const isProviders: Test = (value) =>
  Array.isArray(value) &&
  value.every((one) => has("capabilities", "languageModel")(one) && isText(one.id)) &&
  new Set(value.map(({ id }) => id)).size === value.length;

const isKey: Test = (value) => value instanceof Uint8Array && value.length >= MIN_KEY_BYTES;
const MIN_KEY_BYTES = 32; // of an HMAC-SHA-256 that nobody can guess

const isOrigins: Test = (value) =>
  Array.isArray(value) && value.every((each) => isText(each) && /^https?:\/\/[^/]+$/.test(each));

const OPTIONS: Rules<AiOptions> = {
  providers: [
    isProviders,
    "a list of providers, each with another id, capabilities and languageModel",
  ],
  defaultProvider: TEXT,
  defaultModels: RECORD,
  credentials: [has("resolve"), "a port with resolve"],
  tools: [has("list", "call"), "a port with list and call"],
  origins: [isOrigins, "a list of origins such as http://127.0.0.1:8080"],
  circuit: RECORD,
  prices: RECORD,
  hmacKey: [isKey, `at least ${MIN_KEY_BYTES} bytes`],
};

const CIRCUIT: Rules<CircuitOptions> = {
  failures: [isCount, "a number from 1"],
  windowMs: MILLISECONDS,
  coolDownMs: MILLISECONDS,
};

/**
 * Settings of `ai` nodes for `createEngine({ settings: [aiSettings({ providers })] })`. Throws `EngineError` `input_invalid` for an option
 * that is not what it must be.
 */
export function aiSettings(options: AiOptions): Setting {
  checkRules(options, OPTIONS);
  checkRules(options.circuit ?? {}, CIRCUIT, "circuit.");
  return AI.with(options);
}
