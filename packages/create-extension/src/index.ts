/** The scaffold of an extension, as a command and as a function. */
export { type CreateOptions, createExtension } from "./create.ts";
export { type MainIo, main } from "./main.ts";
export { TEMPLATES, type Template } from "./templates/package.ts";
export { KINDS, type Kind } from "./templates/sources.ts";
