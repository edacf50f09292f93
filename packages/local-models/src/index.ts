export { ModelError, type ModelErrorCode } from "./errors.ts";
export { createModelManager } from "./manager.ts";
export type { HubModel, ModelClock, ModelManagerOptions, ModelSettings } from "./settings.ts";
