/** The routes that are no commands. */
import type { JsonObject } from "@millrace/contracts";
import { problemResponses } from "./operation.ts";

const PUBLIC: JsonObject = { security: [] };
const STATE: JsonObject = {
  type: "object",
  properties: { status: { type: "string" } },
  required: ["status"],
};

const content = (media: string, schema: JsonObject): JsonObject => ({ [media]: { schema } });

function read(operationId: string, summary: string, media: string, schema: JsonObject): JsonObject {
  return {
    get: {
      operationId,
      summary,
      tags: ["server"],
      responses: {
        200: { description: summary, content: content(media, schema) },
        ...problemResponses([]),
      },
    },
  };
}

function state(operationId: string, summary: string, waits: boolean): JsonObject {
  const answer = content("application/json", STATE);
  return {
    get: {
      operationId,
      summary,
      tags: ["server"],
      ...PUBLIC,
      responses: {
        200: { description: summary, content: answer },
        ...(waits
          ? { 503: { description: "`starting`, `draining` or `store`", content: answer } }
          : {}),
      },
    },
  };
}

/** Path to its operations. */
export const PLAIN_ROUTES: { readonly [path: string]: JsonObject } = {
  "/": read("home", "Say where things are, as a page", "text/html", { type: "string" }),
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
          "bad_json",
          "json_too_deep",
          "body_too_large",
          "unsupported_media_type",
          "expectation_failed",
        ]),
        default: {
          description: "What the command refuses",
          content: content("application/problem+json", { $ref: "#/components/schemas/Problem" }),
        },
      },
    },
  },
  "/api/health": state("health", "Say that the server answers", false),
  "/api/ready": state("ready", "Say whether the server takes work", true),
  "/api/metrics": read("metrics", "Read metrics as Prometheus text", "text/plain", {
    type: "string",
  }),
  "/api/openapi.json": read("openapi", "Read this document", "application/json", {
    type: "object",
  }),
  "/api/docs": read("docs", "Read this document as a page", "text/html", { type: "string" }),
  "/hooks/{token}": {
    post: {
      operationId: "call_webhook",
      summary: "Start the template of a webhook; 404 for a token that is unknown or switched off",
      tags: ["webhooks"],
      ...PUBLIC,
      parameters: [{ name: "token", in: "path", required: true, schema: { type: "string" } }],
      requestBody: {
        required: false,
        content: {
          ...content("application/json", {}),
          ...content("application/x-www-form-urlencoded", {}),
          ...content("text/plain", {}),
        },
      },
      responses: {
        202: {
          description: "The run that was started",
          content: content("application/json", {
            type: "object",
            properties: { runId: { $ref: "#/components/schemas/RunId" } },
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
        ]),
      },
    },
  },
};
