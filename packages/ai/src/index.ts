export { aiPack } from "./ai-node.ts";
export { withoutPrompts } from "./fields.ts";
export type { AiOptions, CircuitOptions } from "./options.ts";
export { aiSettings } from "./settings.ts";
