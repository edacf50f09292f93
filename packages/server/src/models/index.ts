/** Managed models of this machine, where their package is installed. Loads neither that package nor the rest of the server. */
export type { ModelEvents } from "./model-events.ts";
export {
  type ManagedModels,
  type ModelPorts,
  type ModelsOption,
  openModels,
} from "./open-models.ts";
export { modelsFrom, readModels } from "./settings.ts";
