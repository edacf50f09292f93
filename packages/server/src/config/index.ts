/** What an operator may set: options, limits, and where they come from. */
export type { Environment } from "./ai.ts";
export { gatherOptions, type OptionSources } from "./environment.ts";
export {
  CONNECTIONS_CHECK_MS,
  LIMITS,
  LINGER_MS,
  MAX_EVENT_BYTES,
  MAX_WEBHOOK_BYTES,
  type ServerLimits,
} from "./limits.ts";
export {
  type Clock,
  type ExtensionsOption,
  type NodeTypeSource,
  type ReloadOptions,
  type ResolvedOptions,
  resolveOptions,
  type ServerOptions,
} from "./options.ts";
