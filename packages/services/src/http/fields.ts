/** Fields and record of `http.request`, as types and as the schemas that validation reads. */
import { type Json, type JsonSchemaOf, jsonSchema } from "@millrace/contracts";

/** Value of a query or form field. */
export type Scalar = string | number | boolean | null;

/** Fields of `http.request`. */
export interface HttpFields {
  readonly url: string;
  readonly method?: string;
  readonly headers?: { readonly [name: string]: Exclude<Scalar, null> };
  readonly query?: { readonly [name: string]: Scalar | readonly Scalar[] };
  readonly body?: Json;
  readonly form?: { readonly [name: string]: Scalar | readonly Scalar[] };
  readonly connection?: string | null;
  readonly response?: "auto" | "json" | "text" | "base64";
  readonly ok?: readonly (string | number)[];
  readonly redirects?: number;
  readonly maxBytes?: number;
}

/** Output of `http.request`. */
export interface HttpRecord {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Json;
  readonly url: string;
  readonly bytes: number;
}

const scalar = { type: ["string", "number", "boolean", "null"] };
const pairs = {
  type: "object",
  additionalProperties: { anyOf: [scalar, { type: "array", items: scalar }] },
};

/** JSON Schema of the fields. */
export const httpFields: JsonSchemaOf<HttpFields> = jsonSchema<HttpFields>({
  type: "object",
  required: ["url"],
  additionalProperties: false,
  properties: {
    url: {
      type: "string",
      minLength: 1,
      description: "Absolute http: or https: address, without user and password.",
      "x-millrace": { sink: "url" },
    },
    method: {
      enum: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
      default: "GET",
      description: "Method of the request.",
    },
    headers: {
      type: "object",
      additionalProperties: { type: ["string", "number", "boolean"] },
      description: "Headers by name.",
    },
    query: {
      ...pairs,
      description: "Added to the URL; a list repeats the name, null leaves it out.",
    },
    body: { description: "An object or a list is sent as JSON, a string as text." },
    form: { ...pairs, description: "Sent as application/x-www-form-urlencoded, instead of body." },
    connection: {
      type: ["string", "null"],
      description: "Connection whose credential is added, on the origin of its service only.",
      "x-millrace": { connection: true, literal: true },
    },
    response: {
      enum: ["auto", "json", "text", "base64"],
      default: "auto",
      description: "How the body is read; auto goes by the content type.",
    },
    ok: {
      type: "array",
      minItems: 1,
      items: {
        anyOf: [
          { type: "string", pattern: "^[1-5](xx|[0-9][0-9])$" },
          { type: "integer", minimum: 100, maximum: 599 },
        ],
      },
      default: ["2xx"],
      description: "Statuses that succeed, such as 2xx, 404.",
    },
    redirects: {
      type: "integer",
      minimum: 0,
      maximum: 20,
      default: 5,
      description: "Most redirects that are followed.",
    },
    maxBytes: {
      type: "integer",
      minimum: 0,
      default: 10_485_760,
      description: "Largest decoded body.",
    },
  },
});

/** JSON Schema of the output. */
export const httpRecord: JsonSchemaOf<HttpRecord> = jsonSchema<HttpRecord>({
  type: "object",
  required: ["status", "headers", "body", "url", "bytes"],
  properties: {
    status: { type: "integer", "x-millrace": { aliases: ["statusCode", "status_code", "code"] } },
    headers: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Lower-case names.",
      "x-millrace": { untrusted: true },
    },
    body: {
      description: "Null when it is empty.",
      "x-millrace": { untrusted: true, aliases: ["data", "json", "text", "content", "response"] },
    },
    url: { type: "string", description: "Address after redirects." },
    bytes: { type: "integer", description: "Size of the decoded body." },
  },
});
