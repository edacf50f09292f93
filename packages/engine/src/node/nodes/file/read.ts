/** `file.read`: a file as text, JSON or base64. */
import {
  type ActionDefinition,
  defineAction,
  type Json,
  jsonSchema,
  NodeError,
} from "@millrace/contracts";
import { toBase64 } from "../../../base64.ts";
import { OUT_PORT } from "../../../nodes/entry.ts";
import { pathField } from "./path-field.ts";

/** `file.read`: a file as text, JSON or base64. */
export const read: ActionDefinition = defineAction({
  name: "read",
  title: "Read file",
  summary: "Reads a file as text, JSON or base64.",
  fields: jsonSchema({
    type: "object",
    required: ["path"],
    additionalProperties: false,
    properties: {
      path: pathField,
      encoding: {
        enum: ["utf8", "json", "base64"],
        default: "utf8",
        description: "How the bytes are given: as text, as data, or as base64.",
      },
      maxBytes: {
        type: "integer",
        minimum: 0,
        description: "Largest file; default what the operator allows.",
      },
    },
  }),
  output: jsonSchema({
    type: "object",
    required: ["path", "content", "bytes", "modifiedAt"],
    properties: {
      path: { type: "string" },
      content: {
        description: "A string, or any value with encoding json.",
        "x-millrace": { untrusted: true, aliases: ["data", "text", "body", "contents", "json"] },
      },
      bytes: { type: "integer" },
      modifiedAt: { type: "string", format: "date-time" },
    },
  }),
  effect: "read",
  ports: [OUT_PORT],
  examples: [
    {
      title: "Read JSON",
      fields: { path: "in/rates.json", encoding: "json" },
      output: {
        path: "in/rates.json",
        content: { EUR: 1 },
        bytes: 9,
        modifiedAt: "2026-01-02T03:04:05.000Z",
      },
    },
  ],
  async run(fields, ctx) {
    const { maxBytes } = fields;
    const file = await ctx.files.read(fields.path, maxBytes === undefined ? {} : { maxBytes });
    const content = decode(file.data, fields.encoding ?? "utf8", file.path);
    return { path: file.path, content, bytes: file.data.length, modifiedAt: file.modifiedAt };
  },
});

function decode(data: Uint8Array, encoding: "utf8" | "json" | "base64", path: string): Json {
  if (encoding === "base64") return toBase64(data);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(data);
  } catch {
    throw failed(`${path} is not UTF-8 text; read it with encoding "base64"`);
  }
  if (encoding === "utf8") return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw failed(`${path} is not JSON`);
  }
}

function failed(message: string): NodeError {
  return new NodeError("decode_failed", message, { reason: "output" });
}
