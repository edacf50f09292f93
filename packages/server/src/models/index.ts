/** Managed models of this machine, where their package is installed. Loads neither that package nor the rest of the server. */
export type { ManagedModels, ModelEvents } from "../ports.ts";
export {
  type ModelPorts,
  type ModelsOption,
  modelsProblem,
  openModels,
} from "./open-models.ts";
