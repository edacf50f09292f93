/** What the server shares with its process: signals and the log. */
export { createLogger, createRedactor, type Logger } from "./logger.ts";
export { watchProcess } from "./process-signals.ts";
