/** `millrace catalog`: the node types that flows can use. No code of an extension runs for it. */

import type { CatalogEntry, JsonSchema } from "@millrace/contracts";
import { apiCommand, listCommand } from "../api/command.ts";
import { arg, option } from "../argv/flags.ts";
import { type CliCommand, flagText } from "../argv/spec.ts";
import type { ObjectSchema } from "../ask.ts";
import { factLines, tableLines } from "../output/table.ts";

const list = listCommand("catalog list", "list the node types that flows can use", {
  command: "list_nodes",
  flags: [
    option("query", "<text>", "text in type, title or summary", { short: "q" }),
    option("category", "<category>", "of this category"),
  ],
  examples: [["catalog list -q http", "those that have to do with HTTP"]],
  request: ({ input }) => ({
    q: flagText(input, "query"),
    category: flagText(input, "category"),
  }),
  headings: ["TYPE", "CATEGORY", "EFFECT", "SUMMARY"],
  row: (each) => [
    each.type,
    each.category,
    each.effect,
    each.state === "ready" ? each.summary : `${each.state}: ${each.problem?.message ?? ""}`,
  ],
  none: "no such node type",
});

const show = apiCommand("catalog show", "show a node type with its fields and ports", {
  args: [arg("type", "such as http.request", "node-type")],
  examples: [["catalog show http.request", "every field, and what it takes"]],
  command: "get_node",
  request: ({ input }) => ({ type: input.args[0] ?? "" }),
  show: async (entry) => ({ data: [...factsOf(entry), ...(await fieldLines(entry))] }),
});

/** `millrace catalog list` and `millrace catalog show`. */
export const commands: readonly CliCommand[] = [list, show];

function factsOf(entry: CatalogEntry): string[] {
  return factLines([
    ["type", entry.type],
    ["title", entry.title],
    ["about", entry.summary],
    ["category", entry.category],
    ["effect", `${entry.effect}${entry.idempotent ? ", idempotent" : ""}`],
    ["ports", [...entry.ports.map(({ name }) => name), "error"].join(" ")],
    ["ports from", entry.portsFrom],
    ["secrets", entry.requires.secrets.join(" ")],
    ["connection", entry.requires.connection],
    ["source", entry.source.package],
    ["state", entry.state === "ready" ? undefined : `${entry.state}: ${entry.problem?.message}`],
    ["deprecated", entry.deprecated],
  ]);
}

/** Every field with its type; a star marks those that must be there. */
async function fieldLines({ fields }: CatalogEntry): Promise<readonly string[]> {
  const { properties = {}, required = [] } = fields as ObjectSchema;
  const rows = Object.entries(properties).map(([name, schema]) => [
    `${name}${required.includes(name) ? "*" : ""}`,
    typeOf(schema),
    describe(schema),
  ]);
  return rows.length === 0 ? [] : ["", ...(await tableLines(["FIELD", "TYPE", "ABOUT"], rows))];
}

function typeOf(schema: JsonSchema): string {
  const { type, enum: words } = schema as { type?: unknown; enum?: readonly unknown[] };
  if (words !== undefined) return words.map((word) => JSON.stringify(word)).join("|");
  return Array.isArray(type) ? type.join("|") : typeof type === "string" ? type : "any";
}

function describe(schema: JsonSchema): string {
  const { description, default: value } = schema as { description?: unknown; default?: unknown };
  const text = typeof description === "string" ? description : "";
  return value === undefined ? text : `${text} (default ${JSON.stringify(value)})`.trim();
}
