/** What packs of node types are written with: the engine's own ways with values, schemas, failures and catalog entries. */
export { type ServiceEntry, typesOf } from "./definitions.ts";
export { isPromise } from "./is-promise.ts";
export { EXTENSION_BYTES } from "./limits.ts";
export { Redactor } from "./run/redact.ts";
export { sizeOf, toOutput } from "./values.ts";
