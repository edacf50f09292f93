export { aiPack } from "./ai-node.ts";
export type { AiOptions, CircuitOptions } from "./options.ts";
export { aiSettings } from "./settings.ts";
