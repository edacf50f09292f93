/** One command as an operation of the document: what its route takes, answers and refuses. */
import {
  type CommandDef,
  type ErrorCode,
  type HttpBinding,
  type JsonObject,
  PROBLEMS,
} from "@millrace/contracts";
import { eventSchema, executionEventSchema } from "@millrace/contracts/schemas";
import type { BoundCommand } from "../dispatch/index.ts";
import type { Components, Schema } from "./components.ts";

/** Codes that any request may be refused with. */
const GATE: readonly ErrorCode[] = [
  "bad_target",
  "bad_header",
  "bad_host",
  "unauthorized",
  "host_not_allowed",
  "origin_not_allowed",
  "request_timeout",
  "too_many_requests",
  "headers_too_large",
  "internal",
];
/** Codes of every command besides its own. */
const COMMAND: readonly ErrorCode[] = ["forbidden", "invalid_args", "command_not_wired"];
/** Codes of routes that take a body. */
export const BODY_CODES: readonly ErrorCode[] = [
  "bad_json",
  "json_too_deep",
  "body_too_large",
  "unsupported_media_type",
  "expectation_failed",
];

const NDJSON = "application/x-ndjson";
const JSON_MEDIA = "application/json";

/** How headers are spelt where people read them. */
const HEADER_NAMES: { readonly [header: string]: string } = {
  "if-match": "If-Match",
  "if-none-match": "If-None-Match",
  "last-event-id": "Last-Event-ID",
};

const IDEMPOTENCY_KEY: JsonObject = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "A repeated request with the same key and arguments gets the answer of the first.",
  schema: { type: "string", pattern: "^[\\x21-\\x7e]{1,128}$" },
};

/** Problem responses by status, each for the codes that it may carry. */
export function problemResponses(codes: readonly ErrorCode[]): { [status: string]: JsonObject } {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...new Set([...GATE, ...codes])].sort()) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      status,
      { $ref: `#/components/responses/${list.join(".")}` }, // the name of a response: its codes
    ]),
  );
}

interface ArgsSchema extends JsonObject {
  readonly properties?: { readonly [name: string]: JsonObject };
  readonly required?: readonly string[];
}

/** The arguments of a command as one object, whether it is shared or its own. */
function argsOf(command: CommandDef, components: Components): ArgsSchema {
  const own = components.schemaOf(command.args, "input");
  const { $ref } = own;
  if (typeof $ref !== "string") return own;
  return components.definitions[$ref.slice($ref.lastIndexOf("/") + 1)] as ArgsSchema;
}

export function operationOf(command: BoundCommand, components: Components): JsonObject {
  const { http } = command;
  const { properties = {}, required = [] } = argsOf(command, components);
  const holes = new Set([...http.path.matchAll(/:(\w+)/g)].map(([, name]) => name as string));
  const headers = Object.entries(http.headers ?? {});
  const body = bodyOf(command, { properties, required, holes });
  const rest = Object.keys(properties).filter(
    (name) => !holes.has(name) && !body.takes.has(name) && !isHeaderOnly(http, name),
  );
  const parameters: JsonObject[] = [
    ...[...holes].map((name) => parameter(name, "path", true, properties[name])),
    ...rest.map((name) =>
      name === "tags"
        ? TAG_PARAMETER
        : parameter(name, "query", required.includes(name), properties[name]),
    ),
    ...headers.map(([header, name]) =>
      parameter(HEADER_NAMES[header] ?? header, "header", false, properties[name]),
    ),
    ...(command.idempotency === "key" ? [IDEMPOTENCY_KEY] : []),
  ];
  return {
    operationId: command.name,
    summary: command.summary,
    tags: [http.path.split("/")[2] ?? "api"],
    "x-millrace-command": command.name,
    "x-millrace-effect": command.effect,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body.schema === undefined
      ? {}
      : {
          requestBody: {
            required: body.required,
            content: { [JSON_MEDIA]: { schema: body.schema } },
          },
        }),
    responses: {
      ...successOf(command, components),
      ...problemResponses([
        ...COMMAND,
        ...(command.effect === "read" ? [] : (["draining"] as const)),
        ...(body.schema === undefined ? [] : BODY_CODES),
        ...command.errors.filter((code) => code !== "stream_only"), // by name alone
      ]),
    },
  };
}

/** Changes carry their precondition in a header; a position may stand in the query too. */
function isHeaderOnly({ headers = {}, method }: HttpBinding, name: string): boolean {
  return method !== "GET" && Object.values(headers).includes(name);
}

function parameter(
  name: string,
  place: string,
  required: boolean,
  schema: JsonObject = {},
): JsonObject {
  return { name, in: place, required, schema };
}

/** `tag.team=fx`: as many pairs as there are. */
const TAG_PARAMETER: JsonObject = {
  name: "tags",
  in: "query",
  required: false,
  description: "Pairs such as `tag.team=fx`; every one must be there.",
  style: "form",
  explode: true,
  schema: {
    type: "object",
    propertyNames: { pattern: "^tag\\." },
    additionalProperties: { type: "string" },
  },
};

function bodyOf(
  { http }: BoundCommand,
  args: {
    readonly properties: { readonly [name: string]: JsonObject };
    readonly required: readonly string[];
    readonly holes: ReadonlySet<string>;
  },
): {
  readonly takes: ReadonlySet<string>;
  readonly schema?: JsonObject;
  readonly required: boolean;
} {
  const { body = "none", when } = http;
  if (body === "none") return { takes: new Set(), required: false };
  if (typeof body === "object") {
    const schema = args.properties[body.arg] as JsonObject;
    return { takes: new Set([body.arg]), schema, required: args.required.includes(body.arg) };
  }
  const names = Object.keys(args.properties).filter(
    (name) => !args.holes.has(name) && !isHeaderOnly(http, name) && name !== when?.query,
  );
  if (names.length === 0) return { takes: new Set(), required: false };
  const required = args.required.filter((name) => names.includes(name));
  return {
    takes: new Set(names),
    schema: {
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, args.properties[name] ?? {}])),
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false,
    },
    required: required.length > 0,
  };
}

function successOf(
  command: BoundCommand,
  components: Components,
): { [status: string]: JsonObject } {
  const { http, stream } = command;
  const description = command.summary;
  if (stream !== undefined && http.media === "text/event-stream") {
    const media = { schema: itemOf(stream.item, components) };
    const events = {
      description: "Events: each `data:` line holds one, as JSON",
      content: { [http.media]: media, ...(stream.resume ? { [NDJSON]: media } : {}) },
    };
    const over = { description: "The run has ended and the reader has its last event" };
    return {
      [http.status]: events,
      ...(http.path.includes("/:") && stream.resume ? { 204: over } : {}),
    };
  }
  if (http.media !== undefined) {
    const media = { schema: { type: "string", contentMediaType: http.media } };
    return { [http.status]: { description, content: { [http.media]: media } } };
  }
  if (http.status === 204) return { 204: { description } };
  const schema = components.schemaOf(command.result, "output");
  const answer = { description, content: { [JSON_MEDIA]: { schema } } };
  return Object.fromEntries(
    [http.status, ...(http.alsoStatus ?? [])].map((status) => [status, answer]),
  );
}

/** An event is one of those that this version makes, or one of a newer version, of which the envelope is known. */
function itemOf(item: Schema, components: Components): JsonObject {
  const schema = components.schemaOf(item, "output");
  if (item !== eventSchema) return schema;
  return { anyOf: [components.schemaOf(executionEventSchema, "output"), schema] };
}

/** Schema of every problem document. Members beyond these belong to single codes. */
export const PROBLEM_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    type: { type: "string", format: "uri" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    instance: { type: "string" },
    code: { type: "string", enum: Object.keys(PROBLEMS).sort() },
    requestId: { type: "string" },
    errors: {
      type: "array",
      items: {
        type: "object",
        properties: {
          pointer: { type: "string", description: "JSON Pointer into the arguments" },
          code: { type: "string" },
          message: { type: "string" },
          line: { type: "integer" },
          column: { type: "integer" },
        },
        required: ["pointer", "code", "message"],
      },
    },
  },
  required: ["type", "title", "status", "code", "requestId"],
};

export function problemResponse(name: string): JsonObject {
  const codes = name.split(".") as ErrorCode[];
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}`).join("; "),
    content: {
      "application/problem+json": {
        schema: {
          allOf: [
            { $ref: "#/components/schemas/Problem" },
            { type: "object", properties: { code: { enum: codes } } },
          ],
        },
      },
    },
  };
}
