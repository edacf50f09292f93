/** The scaffold of an extension, as a command and as a function. */
export { type CreateOptions, createExtension } from "./create.ts";
export { type MainIo, main } from "./main.ts";
export { KINDS, type Kind, TEMPLATES, type Template } from "./scaffold.ts";
