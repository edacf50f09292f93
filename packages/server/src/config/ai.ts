/** How the option `ai` is read; throws a sentence about the value. */
import {
  type AiSettings,
  type AiValues,
  ProvidersError,
  readAiSettings,
} from "@millrace/providers";

/** Environment variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The operator's keys `providers`, `mcpServers` and `ai`, and the variables that may hold keys of providers. */
export interface AiOption extends AiValues {
  /** Default: those of the server. */
  readonly env?: Environment;
}

/** The same, checked. */
export interface ResolvedAi {
  readonly settings: AiSettings;
  readonly env: Environment;
}

/** Checks the option `ai`; absent, it is empty. Throws a text, the rest of a sentence about the option. */
export function readAi(value: unknown = {}): ResolvedAi {
  if (typeof value !== "object" || value === null) throw "must be an object";
  const { env = {}, ...values } = value as AiOption;
  try {
    return { settings: readAiSettings(values), env };
  } catch (error) {
    if (ProvidersError.isInstance(error)) throw `is not right: ${error.message}`;
    throw error;
  }
}
