export { createModelManager } from "./create-model-manager.ts";
export { ModelError, type ModelErrorCode } from "./errors.ts";
export type { HubModel, ModelClock, ModelManagerOptions, ModelSettings } from "./settings.ts";
