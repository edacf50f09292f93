/** Pieces of Markdown that every page of the reference is made of. */
import type { JsonSchema } from "@millrace/contracts";
import { describeType, typeFromSchema } from "@millrace/dsl";
import { aboutMember } from "../../src/commands/explain/index.ts";

/** A line that says who wrote the page, for those who would change it by hand. */
export const WRITTEN = "Written by `node scripts/reference.mjs`; a test compares it with the code.";

/** A table; a cell may hold what would end it. Nothing where there is no row. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Parts of a page with an empty line between them; empty parts go. */
export function page(...parts: readonly (string | undefined)[]): string {
  return `${parts.filter((part) => part !== undefined && part !== "").join("\n\n")}\n`;
}

export function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}

/** One row for each member of an object's schema: name, type, whether it is needed, what it is. */
export function members(schema: JsonSchema): string {
  const { properties = {}, required = [] } = schema as {
    readonly properties?: { readonly [name: string]: JsonSchema };
    readonly required?: readonly string[];
  };
  const rows = Object.entries(properties).map(([name, member]) => {
    return [
      code(name),
      code(describeType(typeFromSchema(member))),
      required.includes(name) ? "yes" : "",
      aboutMember(member),
    ];
  });
  return table(["Name", "Type", "Required", ""], rows);
}

function cell(text: string): string {
  return text
    .replaceAll("|", "\\|")
    .replaceAll("\n", " ")
    .replace(/`[^`]*`|</g, (part) => (part === "<" ? "&lt;" : part));
}
