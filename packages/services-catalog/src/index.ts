/** Ready descriptors of services: files to search, to complete and to copy into a project. Nothing here reaches the network. */

export {
  type CatalogAuth,
  type CatalogService,
  type CatalogValue,
  type CheckedFacts,
  catalogFile,
  findServices,
  readCatalog,
} from "./catalog.ts";
export { type CompletedService, completeService } from "./complete.ts";
export { lintService } from "./lint.ts";
