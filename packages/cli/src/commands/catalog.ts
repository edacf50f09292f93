/** `millrace catalog`: the node types that flows can use. No code of an extension runs for it. */

import type { CatalogEntry, JsonSchema } from "@millrace/contracts";
import { apiCommand, given, listed, pageOf, type Run } from "../api/command.ts";
import { flagText } from "../argv/spec.ts";
import { factLines, tableLines } from "../output/table.ts";

/** Node types by name. */
export const list: Run = apiCommand({
  command: "list_nodes",
  args: ({ input }) => ({
    ...pageOf(input),
    ...given({ q: flagText(input, "query"), category: flagText(input, "category") }),
  }),
  show: (page, all) =>
    listed(page, all, {
      headings: ["TYPE", "CATEGORY", "EFFECT", "SUMMARY"],
      row: (each) => [
        each.type,
        each.category,
        each.effect,
        each.state === "ready" ? each.summary : `${each.state}: ${each.problem?.message ?? ""}`,
      ],
      none: "no such node type",
    }),
});

/** One node type with its fields, ports and what it needs. */
export const show: Run = apiCommand({
  command: "get_node",
  args: ({ input }) => ({ type: input.args[0] ?? "" }),
  show: (entry) => ({ data: [...factsOf(entry), ...fieldLines(entry)] }),
});

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

interface ObjectSchema {
  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly required?: readonly string[];
}

/** Every field with its type; a star marks those that must be there. */
function fieldLines({ fields }: CatalogEntry): string[] {
  const { properties = {}, required = [] } = fields as ObjectSchema;
  const rows = Object.entries(properties).map(([name, schema]) => [
    `${name}${required.includes(name) ? "*" : ""}`,
    typeOf(schema),
    describe(schema),
  ]);
  return rows.length === 0 ? [] : ["", ...tableLines(["FIELD", "TYPE", "ABOUT"], rows)];
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
