export type { FileProblem, FoundProject, ProjectFor, Timers } from "./documents.ts";
export type { ByteSink, ByteSource } from "./frames.ts";
export { createLanguageServer, type LanguageServer, type LanguageServerOptions } from "./server.ts";
