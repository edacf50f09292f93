/** The operator's keys `providers`, `mcpServers` and `ai`, checked and typed. A flow never says any of this. */
import { type OptionNames, unknownOption } from "@millrace/contracts/options";
import { type Infer, problemsOf, type Shape } from "@millrace/contracts/shape";
import { ProvidersError } from "../errors.ts";
import { ai, mcpServers, type program, providers, type remote } from "./shapes.ts";

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

/** A server of the Model Context Protocol: a program that is started, or an address (Streamable HTTP). */
export type McpServerSettings = Infer<typeof program> | Infer<typeof remote>;

/** Everything that an operator says about AI. */
export interface AiSettings extends Infer<typeof ai> {
  readonly providers: { readonly [id: string]: ProviderSettings };
  readonly mcpServers: { readonly [name: string]: McpServerSettings };
  readonly prices: NonNullable<Infer<typeof ai>["prices"]>;
}

/** The three keys as they stand in a configuration. */
export interface AiValues {
  readonly providers?: unknown;
  readonly mcpServers?: unknown;
  readonly ai?: unknown;
}

const NAMES: OptionNames<AiValues> = { providers: true, mcpServers: true, ai: true };

/** Reads the three keys of a configuration; absent ones are empty. Throws `ProvidersError` `settings_invalid` for the first problem. */
export function readAiSettings(values: AiValues): AiSettings {
  const problem = unknownOption(values, NAMES);
  if (problem !== undefined) throw new ProvidersError("settings_invalid", problem);
  const { prices = {}, ...rest } = read<Partial<AiSettings>>("ai", values.ai, ai);
  return {
    ...rest,
    prices,
    providers: read<AiSettings["providers"]>("providers", values.providers, providers),
    mcpServers: read<AiSettings["mcpServers"]>("mcpServers", values.mcpServers, mcpServers),
  };
}

function read<T>(key: string, value: unknown, shape: Shape): T {
  const given = value ?? {};
  const problem = problemsOf(given, shape)[0];
  if (problem === undefined) return given as T;
  const where = `${key}${problem.pointer}`.replaceAll("/", ".");
  throw new ProvidersError("settings_invalid", `${where} ${problem.message}`);
}
