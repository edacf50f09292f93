/** The routes that are no commands. */
import type { JsonObject } from "@millrace/contracts";
import { problemResponses } from "./operation.ts";

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
