/**
 * One connection to a server for one run.
 *   M1  Tools that the operator does not list are neither shown nor called.
 *   M2  The list is the one that the server gave when it was first asked.
 *   M3  The server is offered nothing of ours: no sampling, no questions to people, no folders.
 *   M4  Nothing that a server was given as a secret comes back from here.
 */
import {
  type AiSourceTool,
  type AiToolContext,
  type FetchLike,
  type Json,
  type JsonObject,
  secretForms,
} from "@millrace/contracts";
import { toWebFetch } from "@millrace/contracts/web-fetch";
import {
  type CallToolResult,
  Client,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type ProgressCallback,
  StreamableHTTPClientTransport,
  type Tool,
} from "@modelcontextprotocol/client";
import type { McpServerSettings } from "../settings/read.ts";
import { cut, mcpError, toMcpError } from "./failure.ts";
import { ServerProcess, type ServerStart, within } from "./server-process.ts";

const CONNECT_MS = 10_000;
const CLOSE_MS = 2_000; // for a last request over HTTP
const MAX_DESCRIPTION = 1_024;
const MAX_SCHEMA_BYTES = 65_536; // as every schema of an `ai` node
const MAX_SCHEMA_DEPTH = 32;
const PROGRESS_MS = 200;

/** Where a connection goes, with its secrets looked up. */
export type McpTarget = (
  | { readonly start: ServerStart }
  | { readonly url: string; readonly token: string | undefined; readonly fetch: FetchLike }
) & {
  readonly server: string;
  readonly settings: McpServerSettings;
  readonly secrets: readonly string[];
};

export interface McpConnection {
  readonly tools: readonly AiSourceTool[];
  call(tool: string, args: JsonObject, ctx: AiToolContext): Promise<Json>;
  /** Never rejects. */
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** Gives up connecting. */
  readonly signal: AbortSignal;
  /** Told of tools that are left out. */
  readonly warn: (code: string, text: string) => void;
  /** Called when the connection has ended, by either side. */
  readonly onOver: () => void;
  /** Takes what is still to be waited for after a failure: the end of the program. */
  readonly leave: (closing: Promise<void>) => void;
}

/** Connects and asks for the tools, each within `connectMs`. */
export async function connect(
  target: McpTarget,
  { signal, warn, onOver, leave }: ConnectOptions,
): Promise<McpConnection> {
  const { server, settings, secrets } = target;
  const mask = maskOf(secrets);
  const child = "start" in target ? new ServerProcess(target.start) : undefined;
  const remote = "url" in target ? httpTransport(target) : undefined;
  const transport = child ?? remote;
  if (transport === undefined) throw new TypeError("a server is a program or an address");
  const client = new Client(CLIENT, {
    capabilities: {},
    inputRequired: { autoFulfill: false },
    jsonSchemaValidator: UNCHECKED,
  });
  let changed = false;
  client.onclose = onOver;
  client.setNotificationHandler("notifications/tools/list_changed", () => {
    changed = true;
  });
  const failed = (error: unknown): Error => {
    const told = toMcpError(error, { server, child, mask });
    return mcpErrorWith(told, mask(told.message));
  };
  const close = async (): Promise<void> => {
    // A server that does not answer the end of its session is ignored.
    await within(remote?.terminateSession().catch(() => {}) ?? Promise.resolve(), CLOSE_MS);
    await client.close().catch(() => {});
    await child?.close();
  };
  let tools: readonly AiSourceTool[];
  try {
    const within = { timeout: settings.connectMs ?? CONNECT_MS, signal };
    await client.connect(transport, within);
    const listed = await client.listTools(undefined, within);
    tools = allowed(listed.tools, target, warn);
  } catch (error) {
    leave(close());
    throw failed(error);
  }
  return {
    tools,
    async call(tool, args, ctx) {
      if (changed) {
        changed = false;
        ctx.warn(
          "mcp_list_changed",
          `the tools of ${server} changed; the run keeps those it began with`,
        );
      }
      try {
        const result = await client.callTool(
          { name: tool, arguments: { ...args } },
          {
            signal: ctx.signal as AbortSignal,
            timeout: ctx.timeoutMs,
            onprogress: throttled(ctx),
          },
        );
        if (result.isError === true) {
          throw mcpError(
            "mcp_tool_error",
            cut(mask(textOf(result))) || "the tool says that it failed",
          );
        }
        return mask(resultOf(result));
      } catch (error) {
        if (ctx.signal.aborted) throw ctx.signal.reason;
        throw failed(error);
      }
    },
    close,
  };
}

function mcpErrorWith(error: Error & { readonly code: string }, message: string): Error {
  return error.message === message ? error : mcpError(error.code as "mcp_exited", message);
}

const CLIENT = { name: "millrace", version: "1" };

/** The schemas of a server are its own affair: a check of its results by its own rules would prove nothing here. */
const UNCHECKED: jsonSchemaValidator = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};

function httpTransport({
  url,
  token,
  fetch: send,
}: Extract<McpTarget, { readonly url: string }>): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: toWebFetch(send, { sameOrigin: true }),
    redirectPolicy: "same-origin",
    onInsufficientScope: "throw",
    ...(token !== undefined && { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
  });
}

function allowed(
  listed: readonly Tool[],
  { server, settings }: McpTarget,
  warn: (code: string, text: string) => void,
): readonly AiSourceTool[] {
  const trusted = new Set(settings.trusted ?? []);
  return settings.tools.flatMap((name) => {
    const tool = listed.find((each) => each.name === name);
    if (tool === undefined) {
      warn("mcp_tool_missing", `the server ${server} has no tool ${name}`);
      return [];
    }
    const inputSchema = tool.inputSchema as JsonObject;
    if (isTooLarge(inputSchema)) {
      warn(
        "mcp_tool_dropped",
        `the arguments of ${server}/${name} are described at too great a length`,
      );
      return [];
    }
    const { description } = tool;
    return [
      {
        name,
        inputSchema,
        trusted: trusted.has(name),
        ...(description !== undefined && { description: description.slice(0, MAX_DESCRIPTION) }),
      },
    ];
  });
}

function isTooLarge(schema: JsonObject): boolean {
  return (
    Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES ||
    depthOf(schema, 0) > MAX_SCHEMA_DEPTH
  );
}

function depthOf(value: unknown, above: number): number {
  if (typeof value !== "object" || value === null || above > MAX_SCHEMA_DEPTH) return above;
  return Math.max(above + 1, ...Object.values(value).map((each) => depthOf(each, above + 1)));
}

/** At most five reports a second, the first at once. */
function throttled({ progress }: AiToolContext): ProgressCallback {
  let last = Number.NEGATIVE_INFINITY;
  return ({ progress: done, total }) => {
    const now = performance.now();
    if (now - last < PROGRESS_MS) return;
    last = now;
    progress(done, total);
  };
}

/** A function that takes every form of the secrets out of the strings of a value. */
function maskOf(secrets: readonly string[]): <T extends Json>(value: T) => T {
  const forms = secrets.flatMap(secretForms).sort((one, other) => other.length - one.length);
  if (forms.length === 0) return (value) => value;
  const masked = (value: Json | undefined): Json | undefined => {
    if (typeof value === "string") {
      return forms.reduce((text, form) => text.replaceAll(form, "[redacted]"), value);
    }
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((each) => masked(each) ?? null);
    const entries = Object.entries(value).map(([key, each]) => [masked(key), masked(each)]);
    return Object.fromEntries(entries) as Json;
  };
  return (value) => masked(value) as typeof value;
}

/** `structuredContent` is preferred over text. Other content is named: `[image image/png]`. */
function resultOf(result: CallToolResult): Json {
  if (result.structuredContent !== undefined) return result.structuredContent as Json;
  return textOf(result);
}

/** The text of an answer, one block a line. */
function textOf({ content = [] }: CallToolResult): string {
  return content.map(blockText).join("\n");
}

function blockText(block: CallToolResult["content"][number]): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type} ${block.mimeType}]`;
    case "resource_link":
      return `[resource ${block.uri}]`;
    case "resource":
      return "text" in block.resource ? block.resource.text : `[resource ${block.resource.uri}]`;
    default:
      return "";
  }
}
