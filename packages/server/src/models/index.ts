/** Managed models of this machine, where their package is installed. Loads neither that package nor the rest of the server. */
export { Misfit } from "../errors.ts";
export type { ManagedModels, ModelEvents } from "../ports.ts";
export {
  type ModelPorts,
  type ModelsOption,
  modelsFrom,
  openModels,
  readModels,
} from "./open-models.ts";
