/** The executor of this process, and reading what it has stored. */
export { ExecutorError, type ExecutorErrorCode } from "./errors.ts";
export { createLocalDispatcher, type LocalDispatcherOptions } from "./local-dispatcher.ts";
export { createLocalExecutor, type LocalExecutor } from "./local-executor.ts";
export type { LocalExecutorOptions, SharedExecutorOptions } from "./options.ts";
export { createPlans, type Plans } from "./plans.ts";
export { decodeEvent } from "./run-log.ts";
export { createSharedExecutor } from "./shared-executor.ts";
