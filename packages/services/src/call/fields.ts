/** Fields and record of `service.call`. */
import type { CatalogEntry, Json, JsonObject } from "@millrace/contracts";
import { coreEntry } from "@millrace/engine/pack";

/** Most pages of one call; more is an export, which services offer in another way. */
export const MAX_PAGES = 1_000;

const MAX_ITEMS = 100_000; // items of one output, which later nodes hold in memory

/** Fields of `service.call`. */
export interface ServiceCallFields {
  readonly connection: string;
  readonly operation: string;
  readonly args?: JsonObject;
  readonly pages?: number | "all";
  readonly maxItems?: number | null;
}

/** Output of `service.call`; the last three only when pages were asked for. */
export interface ServiceCallRecord {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Json;
  readonly items?: readonly Json[];
  readonly pageCount?: number;
  readonly truncated?: boolean;
}

const literal = { literal: true } as const;
const untrusted = { "x-millrace": { untrusted: true } } as const;

/** The catalog entry. Effect is that of the operation; `write` is said where the operation is not known. */
export const serviceCallEntry: CatalogEntry = Object.freeze({
  ...coreEntry({
    type: "service.call",
    title: "Service call",
    summary: "Calls an operation of a connected service.",
    category: "data",
    properties: {
      connection: {
        type: "string",
        minLength: 1,
        description: "Name of a connection of the flow.",
        "x-millrace": { connection: true, ...literal },
      },
      operation: {
        type: "string",
        minLength: 1,
        description: "Id of an operation of its service.",
        "x-millrace": literal,
      },
      args: { type: "object", default: {}, description: "Arguments of the operation by name." },
      pages: {
        anyOf: [{ type: "integer", minimum: 1, maximum: MAX_PAGES }, { enum: ["all"] }],
        default: 1,
        description: `Pages to read; "all" reads up to ${MAX_PAGES}.`,
      },
      maxItems: {
        type: ["integer", "null"],
        minimum: 1,
        maximum: MAX_ITEMS,
        description: "Items to keep of all pages.",
      },
    },
    required: ["connection", "operation"],
    output: {
      type: "object",
      properties: {
        status: {
          type: "integer",
          "x-millrace": { aliases: ["statusCode", "status_code", "code"] },
        },
        headers: {
          type: "object",
          additionalProperties: { type: "string" },
          description: "Lower-case names.",
          ...untrusted,
        },
        body: {
          description: "Null when it is empty; of several pages the last.",
          "x-millrace": {
            untrusted: true,
            aliases: ["data", "json", "text", "content", "response"],
          },
        },
        items: { type: "array", description: "Items of all pages.", ...untrusted },
        pageCount: { type: "integer" },
        truncated: { type: "boolean", description: "Whether the service has more." },
      },
      required: ["status", "headers", "body"],
      additionalProperties: false,
    },
    effect: "write",
    example: {
      title: "List open issues",
      fields: {
        connection: "tracker",
        operation: "issues.list",
        args: { project: "millrace", state: "open" },
        pages: "all",
      },
    },
  }),
  kind: "service",
  category: "network",
  tags: ["api", "oauth", "connection"],
  requires: { secrets: [], connection: "connection", permissions: {} },
});
