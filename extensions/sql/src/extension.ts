/** SQL databases for flows. A statement is a constant of the flow, and what comes from elsewhere is a parameter of it. */
import {
  defineAction,
  defineActionAdapter,
  defineExtension,
  type ExtensionDefinition,
  type JsonObject,
  jsonSchema,
  NodeError,
} from "@millrace/contracts";
import { querySqlite } from "./sqlite.ts";

/** Name of the secret that holds the address of the database. */
const SECRET = "DATABASE_URL";

const query = defineAction<
  { readonly statement: string; readonly parameters?: readonly (string | number | null)[] },
  { readonly rows: readonly JsonObject[] }
>({
  name: "query",
  title: "Query a database",
  summary: "The rows that a SELECT answers.",
  fields: jsonSchema({
    type: "object",
    properties: {
      statement: {
        type: "string",
        minLength: 1,
        "x-millrace": { literal: true, sink: "sql" },
      },
      parameters: { type: "array", items: { type: ["string", "number", "null"] } },
    },
    required: ["statement"],
    additionalProperties: false,
  }),
  output: jsonSchema({
    type: "object",
    properties: { rows: { type: "array", items: { type: "object", additionalProperties: true } } },
    required: ["rows"],
  }),
  effect: "read",
  needs: { secrets: [SECRET] },
  async run({ statement, parameters = [] }, ctx) {
    const url = (await ctx.credentials.secret(SECRET)).reveal();
    if (!url.startsWith("sqlite:/")) {
      throw new NodeError("sql_address", `${SECRET} must be sqlite: and an absolute path`);
    }
    return { rows: querySqlite(url.slice("sqlite:".length), statement, parameters) };
  },
});

const extension: ExtensionDefinition = defineExtension({
  adapters: [defineActionAdapter({ id: "sql", title: "SQL", actions: [query] })],
});
export default extension;
