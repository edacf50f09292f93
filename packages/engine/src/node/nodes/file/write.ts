/** `file.write`: creates, replaces or extends a file. */
import { type ActionDefinition, defineAction, jsonSchema, NodeError } from "@millrace/contracts";
import { fromBase64 } from "../../../base64.ts";
import { OUT_PORT } from "../../../nodes/entry.ts";
import { pathField } from "./path-field.ts";

/** Fields of `file.write`. */
export interface WriteFields {
  readonly path: string;
  readonly content: string;
  readonly encoding?: "utf8" | "base64";
  readonly mode?: "create" | "replace" | "append";
}

/** Output of `file.write`. */
export interface WriteRecord {
  readonly path: string;
  readonly bytes: number;
  readonly created: boolean;
}

/** `file.write`: creates, replaces or extends a file. */
export const write: ActionDefinition<WriteFields, WriteRecord> = defineAction<
  WriteFields,
  WriteRecord
>({
  name: "write",
  title: "Write file",
  summary: "Creates a file; with mode replace or append also over or after an existing one.",
  fields: jsonSchema<WriteFields>({
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
  output: jsonSchema<WriteRecord>({
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
    const mode = fields.mode ?? "create";
    const { path, bytes, created } = await ctx.files.write(fields.path, bytesOf(fields), { mode });
    return { path, bytes, created };
  },
});

/** Whether the same write twice has one effect: only `replace` has. */
export function isIdempotentWrite(fields: { readonly [name: string]: unknown }): boolean {
  return fields["mode"] === "replace";
}

function bytesOf({ content, encoding = "utf8" }: WriteFields): Uint8Array {
  if (encoding === "utf8") return new TextEncoder().encode(content);
  const bytes = fromBase64(content);
  if (bytes !== undefined) return bytes;
  throw new NodeError("field_invalid", "content: not base64, as encoding says", {
    reason: "input",
    sent: false,
  });
}
