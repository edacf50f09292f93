/** Failures of a server as errors for the model. */
import { NodeError } from "@millrace/contracts";
import type { ServerProcess } from "./server-process.ts";

const MAX_TOLD = 1_000; // units of the error output or of a server's own words in a message

/**
 * `mcp_exited`: the program ended. `mcp_protocol`: its output is not the protocol. `mcp_timeout`: no answer in time.
 * `mcp_tool_error`: the tool itself says that it failed. `auth`: the server refused the credential.
 */
export type McpErrorCode =
  | "mcp_exited"
  | "mcp_protocol"
  | "mcp_timeout"
  | "mcp_tool_error"
  | "mcp_unavailable"
  | "auth";

/** A failure of a server of tools. `message` reaches the log and the model: what the server wrote is masked before it gets here. */
export function mcpError(code: McpErrorCode, message: string): NodeError {
  return new NodeError(code, message, { reason: code === "auth" ? "auth" : "mcp" });
}

interface Source {
  readonly server: string;
  readonly child: ServerProcess | undefined;
  /** Takes the secrets out of a text; before it is cut, because half a secret is not known as one. */
  readonly mask: (text: string) => string;
}

/** An error of the protocol's client. A `NodeError` of the way there (egress, network) keeps its code. */
export function toMcpError(error: unknown, { server, child, mask }: Source): NodeError {
  if (NodeError.isInstance(error)) return error;
  const { code, name, message, cause, data } = (error ?? {}) as {
    readonly code?: unknown;
    readonly name?: unknown;
    readonly message?: unknown;
    readonly cause?: unknown;
    readonly data?: { readonly status?: unknown };
  };
  if (NodeError.isInstance(cause)) return cause;
  if (child?.fault?.kind === "protocol") {
    return mcpError("mcp_protocol", `the server ${server} says something that is no message`);
  }
  if (child?.fault?.kind === "exited") {
    return mcpError(
      "mcp_exited",
      `the server ${server} ended with ${child.fault.how}${tail(mask(child.stderr))}`,
    );
  }
  if (code === "REQUEST_TIMEOUT")
    return mcpError("mcp_timeout", `the server ${server} did not answer in time`);
  if (name === "UnauthorizedError" || data?.status === 401 || data?.status === 403) {
    return mcpError("auth", `the server ${server} refused the credential`);
  }
  if (typeof code === "number") {
    return mcpError("mcp_tool_error", cut(mask(String(message))));
  }
  const errno = typeof code === "string" && /^E[A-Z]+$/.test(code) ? ` (${code})` : "";
  if (errno !== "")
    return mcpError("mcp_exited", `the server ${server} could not be started${errno}`);
  return mcpError("mcp_protocol", `the server ${server} does not keep to the protocol`);
}

export function cut(text: string): string {
  return text.length <= MAX_TOLD ? text : `${text.slice(0, MAX_TOLD)}…`;
}

function tail(stderr: string): string {
  const text = stderr.trim();
  return text === "" ? "" : `; it wrote: ${text.slice(-MAX_TOLD)}`;
}
