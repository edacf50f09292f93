/** `file.list`: files below a folder that fit a pattern. */
import { type ActionDefinition, defineAction, jsonSchema } from "@millrace/contracts";
import { OUT_PORT } from "../../../nodes/entry.ts";
import { pathField } from "./path-field.ts";

const DEFAULT_MAX = 1_000;
const MOST = 10_000; // as many as a map takes

/** `file.list`: files below a folder that match a pattern. */
export const list: ActionDefinition = defineAction({
  name: "list",
  title: "List files",
  summary: "Lists the files below a folder that fit a pattern, sorted by path.",
  fields: jsonSchema({
    type: "object",
    additionalProperties: false,
    properties: {
      path: { ...pathField, default: "." },
      glob: {
        type: "string",
        minLength: 1,
        maxLength: 1024,
        default: "*",
        description: "* and ? stay within a name, ** crosses folders; nothing else is special.",
      },
      max: {
        type: "integer",
        minimum: 1,
        maximum: MOST,
        default: DEFAULT_MAX,
        description: "Most files; more are left out, and truncated is true.",
      },
    },
  }),
  output: jsonSchema({
    type: "object",
    required: ["files", "truncated"],
    properties: {
      files: {
        type: "array",
        "x-millrace": { aliases: ["items", "entries", "data"] },
        items: {
          type: "object",
          required: ["path", "name", "bytes", "modifiedAt"],
          additionalProperties: false,
          properties: {
            path: { type: "string" },
            name: { type: "string" },
            bytes: { type: "integer" },
            modifiedAt: { type: "string", format: "date-time" },
          },
        },
      },
      truncated: { type: "boolean", description: "Whether there are more than max." },
    },
  }),
  effect: "read",
  ports: [OUT_PORT],
  examples: [
    {
      title: "All Markdown files",
      fields: { glob: "**/*.md" },
      output: { files: [], truncated: false },
    },
  ],
  async run(fields, ctx) {
    const { path = ".", glob = "*", max = DEFAULT_MAX } = fields;
    const { files, truncated } = await ctx.files.list(path, { glob, max });
    const entries = files.map(({ path, name, bytes, modifiedAt }) => ({
      path,
      name,
      bytes,
      modifiedAt,
    }));
    return { files: entries, truncated };
  },
});
