/** Tools of servers that speak the Model Context Protocol. */
export type { McpErrorCode } from "./failure.ts";
export { createMcpSource, type McpSource, type McpSourceOptions } from "./source.ts";
