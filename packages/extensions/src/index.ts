/** Extensions on Node: read without running them, granted, loaded, kept apart. */
export { type BuildCatalogOptions, buildCatalog } from "./build-catalog.ts";
export {
  catalogOf,
  type ExtensionCatalog,
  type ListedProvider,
  type PlainEntry,
  parseCatalog,
} from "./catalog.ts";
export { importDefinition } from "./code.ts";
export type { CodeTimes } from "./host-code.ts";
export {
  contributesOf,
  type InspectedExtension,
  inspectExtension,
  type ListedExtension,
  type ReadExtensionsOptions,
  readExtensions,
  reservedId,
  type TakenIds,
} from "./inspect.ts";
export {
  type ExtensionLock,
  type ExtensionSource,
  LOCK_FILE,
  type LockedExtension,
  readLock,
  writeLock,
} from "./lock.ts";
export {
  type ExtensionManifest,
  type ExtensionMode,
  PACKAGE_NAME,
  parseManifest,
  problemOfHosts,
} from "./manifest.ts";
export { type Extensions, type OpenExtensionsOptions, openExtensions } from "./open-extensions.ts";
export type { OutputLine } from "./output-lines.ts";
export { missingGrants, permissionLines, runtimeOf } from "./permissions.ts";
export { type ExtensionProblem, type ExtensionProblemCode, ProblemFound } from "./problem.ts";
