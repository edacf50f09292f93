/** The routes that are no commands. */
import type { JsonObject } from "@millrace/contracts";
import { BODY_CODES, problemResponses } from "./operation.ts";

const PUBLIC: { readonly security: [] } = { security: [] };
const STATE = {
  type: "object",
  properties: { status: { type: "string" } },
  required: ["status"],
} as const;

const content = (media: string, schema: JsonObject): JsonObject => ({ [media]: { schema } });

/** A GET without arguments; `more`: of the operation, and further answers. */
function get(
  operationId: string,
  summary: string,
  [media, schema]: readonly [string, JsonObject],
  { responses = {}, ...more }: { readonly responses?: JsonObject; readonly security?: [] } = {},
): JsonObject {
  return {
    get: {
      operationId,
      summary,
      tags: ["server"],
      ...more,
      responses: {
        200: { description: summary, content: content(media, schema) },
        ...(more.security === undefined ? problemResponses([]) : responses),
      },
    },
  };
}

const TOKEN = { name: "token", in: "path", required: true, schema: { type: "string" } } as const;

const HTML = ["text/html", { type: "string" }] as const;
const STATUS = ["application/json", STATE] as const;
const READINESS = [
  "application/json",
  {
    ...STATE,
    properties: {
      ...STATE.properties,
      dispatcher: {
        type: "string",
        enum: ["ok", "degraded"],
        description:
          "Of a server of many. `degraded`: what gives runs to servers cannot be reached; starts are accepted, and wait.",
      },
    },
  },
] as const;
const NOT_READY = {
  503: {
    description: "`starting`, `draining` or `store`",
    content: content(...READINESS),
  },
};

const PROBLEM = content("application/problem+json", { $ref: "#/components/schemas/Problem" });
/** The answer of a message; `more`: its members beside the id. */
const rpc = (more: JsonObject, required: string): JsonObject =>
  content("application/json", {
    type: "object",
    properties: { jsonrpc: { const: "2.0" }, id: { type: ["string", "integer", "null"] }, ...more },
    required: ["jsonrpc", required],
  });
const RPC_ERROR = {
  type: "object",
  properties: {
    code: { type: "integer" },
    message: { type: "string" },
    data: { description: "Of a body that was not read: the problem." },
  },
  required: ["code", "message"],
};

/** Path to its operations. */
export const PLAIN_ROUTES: { readonly [path: string]: JsonObject } = {
  "/": get("home", "Say where things are, as a page", HTML),
  "/api/invoke": {
    post: {
      operationId: "invoke",
      summary: "Call any command by its name",
      tags: ["invoke"],
      requestBody: {
        required: true,
        content: content("application/json", {
          type: "object",
          properties: {
            command: { type: "string", minLength: 1, maxLength: 128 },
            args: { type: "object" },
          },
          required: ["command", "args"],
          additionalProperties: false,
        }),
      },
      responses: {
        200: {
          description: "The result of the command, null where it has none",
          content: content("application/json", {}),
        },
        ...problemResponses([
          "forbidden",
          "invalid_args",
          "command_not_wired",
          "stream_only",
          "draining",
          ...BODY_CODES,
        ]),
        default: {
          description: "What the command refuses",
          content: PROBLEM,
        },
      },
    },
  },
  "/api/health": get("health", "Say that the server answers", STATUS, PUBLIC),
  "/api/ready": get("ready", "Say whether the server takes work", READINESS, {
    ...PUBLIC,
    responses: NOT_READY,
  }),
  "/api/metrics": get("metrics", "Read metrics as Prometheus text", [
    "text/plain",
    { type: "string" },
  ]),
  "/api/openapi.json": get("openapi", "Read this document", [
    "application/json",
    { type: "object" },
  ]),
  "/api/docs": get("docs", "Read this document as a page", HTML),
  "/mcp": {
    post: {
      operationId: "mcp",
      summary:
        "Take one message of the Model Context Protocol (streamable HTTP, without sessions); 404 where the server has it switched off",
      tags: ["mcp"],
      parameters: ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"].map((name) => ({
        name,
        in: "header",
        required: false,
        description: "As the body says; requests of the revision 2026-07-28 have it.",
        schema: { type: "string" },
      })),
      requestBody: {
        required: true,
        content: content("application/json", {
          description: "A message of JSON-RPC 2.0; in revisions before 2026-07-28 also a list.",
          anyOf: [
            {
              type: "object",
              properties: {
                jsonrpc: { const: "2.0" },
                id: { anyOf: [{ type: "integer" }, { type: "string", maxLength: 256 }] },
                method: { type: "string" },
                params: { type: "object" },
              },
              required: ["jsonrpc"],
            },
            { type: "array", maxItems: 100, items: { type: "object" } },
          ],
        }),
      },
      responses: {
        200: {
          description: "The answer; or a stream that has it last, after progress or news",
          content: {
            ...rpc({ result: { type: "object" }, error: RPC_ERROR }, "id"),
            ...content("text/event-stream", { type: "string" }),
          },
        },
        202: { description: "A notification was taken" },
        ...problemResponses(["too_many_streams"]),
        400: {
          description: "No such message, an unknown revision, or what the gate refuses",
          content: { ...rpc({ error: RPC_ERROR }, "error"), ...PROBLEM },
        },
        404: {
          description: "No such method; or the server has no such route",
          content: { ...rpc({ error: RPC_ERROR }, "error"), ...PROBLEM },
        },
        ...Object.fromEntries(
          Object.entries({
            406: "`Accept` names neither JSON nor streams, in revisions before 2026-07-28",
            413: "The body is too long",
            415: "The body is no JSON",
          }).map(([status, description]) => [
            status,
            { description, content: rpc({ error: RPC_ERROR }, "error") },
          ]),
        ),
      },
    },
  },
  "/hooks/{token}": {
    get: {
      operationId: "challenge_webhook",
      summary:
        "Answer the challenge of a sender that asks whose address this is; 405 for any other",
      tags: ["webhooks"],
      ...PUBLIC,
      parameters: [TOKEN],
      responses: {
        200: { description: "The challenge", content: content("text/plain", { type: "string" }) },
        ...problemResponses([
          "method_not_allowed",
          "route_not_found",
          "unauthorized",
          "invalid_args",
          "draining",
        ]),
      },
    },
    post: {
      operationId: "call_webhook",
      summary: "Start the template of a webhook; 404 for a token that is unknown or switched off",
      tags: ["webhooks"],
      ...PUBLIC,
      parameters: [TOKEN],
      requestBody: {
        required: false,
        content: {
          ...content("application/json", {}),
          ...content("application/x-www-form-urlencoded", {}),
          ...content("text/plain", {}),
        },
      },
      responses: {
        200: {
          description:
            "The outputs of the flow, where the webhook responds with them; the run, where the sender takes no 202; or the challenge of a sender",
          content: {
            ...content("application/json", { type: "object" }),
            ...content("text/plain", { type: "string" }),
          },
        },
        202: {
          description: "The run that was started",
          content: content("application/json", {
            type: "object",
            properties: {
              runId: { $ref: "#/components/schemas/RunId" },
              status: {
                type: "string",
                description: "Of a run whose outputs were waited for, and are not there yet.",
              },
            },
            required: ["runId"],
          }),
        },
        ...problemResponses([
          "not_found",
          "route_not_found",
          "body_too_large",
          "unsupported_media_type",
          "bad_json",
          "draining",
          "too_many_runs",
          "run_failed",
        ]),
      },
    },
  },
};
