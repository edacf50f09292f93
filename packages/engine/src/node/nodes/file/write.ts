/** `file.write`: creates, replaces or extends a file. */
import { type ActionDefinition, defineAction, jsonSchema, NodeError } from "@millrace/contracts";
import { fromBase64 } from "../../../base64.ts";
import { OUT_PORT } from "../../../nodes/entry.ts";
import { pathField } from "./path-field.ts";

/** `file.write`: creates, replaces or extends a file. */
export const write: ActionDefinition = defineAction({
  name: "write",
  title: "Write file",
  summary: "Creates a file; with mode replace or append also over or after an existing one.",
  fields: jsonSchema({
    type: "object",
    required: ["path", "content"],
    additionalProperties: false,
    properties: {
      path: pathField,
      content: { type: "string", description: "What is written." },
      encoding: {
        enum: ["utf8", "base64"],
        default: "utf8",
        description: "How content stands for bytes.",
      },
      mode: {
        enum: ["create", "replace", "append"],
        default: "create",
        description: "create fails where a file is; replace is all or nothing.",
      },
    },
  }),
  output: jsonSchema({
    type: "object",
    required: ["path", "bytes", "created"],
    properties: {
      path: { type: "string" },
      bytes: { type: "integer", description: "Bytes that were written." },
      created: { type: "boolean", description: "Whether the file is new." },
    },
  }),
  effect: "write",
  ports: [OUT_PORT],
  examples: [
    {
      title: "Save text",
      fields: { path: "out/note.txt", content: "hello", mode: "replace" },
      output: { path: "out/note.txt", bytes: 5, created: true },
    },
  ],
  async run(fields, ctx) {
    const { content, encoding, mode = "create" } = fields;
    const data = bytesOf(content, encoding);
    const { path, bytes, created } = await ctx.files.write(fields.path, data, { mode });
    return { path, bytes, created };
  },
});

/** Whether the same write twice has one effect: only `replace` has. */
export function isIdempotentWrite(fields: { readonly [name: string]: unknown }): boolean {
  return fields["mode"] === "replace";
}

function bytesOf(content: string, encoding: "utf8" | "base64" = "utf8"): Uint8Array {
  if (encoding === "utf8") return new TextEncoder().encode(content);
  const bytes = fromBase64(content);
  if (bytes !== undefined) return bytes;
  throw new NodeError("field_invalid", "content: not base64, as encoding says", {
    reason: "input",
    sent: false,
  });
}
