/** The operator's keys `providers`, `mcpServers` and `ai`, checked and typed. A flow never says any of this. */
import type { PricePerMillion } from "@millrace/contracts";
import { type Check, problemsOf } from "@millrace/contracts/check";
import { ProvidersError } from "../errors.ts";
import { ai, mcpServers, providers } from "./shapes.ts";

/** One provider. `credential` is a reference; the key itself is never a setting. */
export interface ProviderSettings {
  /** Default: the provider's id. */
  readonly kind?: "openai" | "anthropic" | "google" | "openai-compatible";
  readonly api?: "responses" | "chat";
  readonly baseUrl?: string;
  readonly supportsStructuredOutputs?: boolean;
  readonly headers?: { readonly [name: string]: string };
  /** `env:NAME`, a name of the credential store, or `service:<slug>`. */
  readonly credential?: string;
  /** Model of nodes that name none. */
  readonly modelId?: string;
}

/** A server of the Model Context Protocol that is started as a program. */
export interface McpProgramSettings {
  readonly command: string;
  readonly args?: readonly string[];
  /** Variables beside the minimal ones. */
  readonly env?: { readonly [name: string]: string };
  /** Variables whose values come from the credential store: `{"API_KEY": "ai:search"}`. */
  readonly secrets?: { readonly [name: string]: string };
  /** Default: an empty folder of the run. */
  readonly cwd?: string;
  /** Names of tools that flows may use; no others are shown or called. */
  readonly tools: readonly string[];
  /** Those of them that need no confirmation. */
  readonly trusted?: readonly string[];
  /** Default 10,000. */
  readonly connectMs?: number;
}

/** A server of the Model Context Protocol at an address (Streamable HTTP). */
export interface McpRemoteSettings {
  readonly url: string;
  /** As of a provider; sent as bearer token. */
  readonly credential?: string;
  readonly tools: readonly string[];
  readonly trusted?: readonly string[];
  readonly connectMs?: number;
}

/** Either of the two. */
export type McpServerSettings = McpProgramSettings | McpRemoteSettings;

/** Everything that an operator says about AI. */
export interface AiSettings {
  readonly providers: { readonly [id: string]: ProviderSettings };
  readonly mcpServers: { readonly [name: string]: McpServerSettings };
  /** Provider of nodes that name none. */
  readonly defaultProvider?: string;
  /** By `provider/model id`, before the built-in ones. */
  readonly prices: { readonly [model: string]: PricePerMillion };
  readonly circuit?: {
    readonly failures?: number;
    readonly windowMs?: number;
    readonly coolDownMs?: number;
  };
}

/** The three keys as they stand in a configuration. */
export interface AiValues {
  readonly providers?: unknown;
  readonly mcpServers?: unknown;
  readonly ai?: unknown;
}

/** Reads the three keys of a configuration; absent ones are empty. Throws `ProvidersError` `settings_invalid` for the first problem. */
export function readAiSettings(values: AiValues): AiSettings {
  const { prices = {}, ...rest } = read<Partial<AiSettings>>("ai", values.ai, ai);
  return {
    ...rest,
    prices,
    providers: read<AiSettings["providers"]>("providers", values.providers, providers),
    mcpServers: read<AiSettings["mcpServers"]>("mcpServers", values.mcpServers, mcpServers),
  };
}

function read<T>(key: string, value: unknown, check: Check): T {
  const given = value ?? {};
  const problem = problemsOf(given, check)[0];
  if (problem === undefined) return given as T;
  const where = `${key}${problem.pointer}`.replaceAll("/", ".");
  throw new ProvidersError("settings_invalid", `${where} ${problem.message}`);
}
